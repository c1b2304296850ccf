import { inspect } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Dependencies } from "../../base/dependencies/dependencies.ts";
import { Unavailable } from "../../base/ports.ts";
import {
  type AnsweringServer,
  deadUrl,
  hangUp,
  json,
  plain,
  type Reply,
  silence,
  startAnsweringServer,
} from "./answering-server.fixture.ts";
import { type IntrospectionOptions, introspectionVerifier } from "./introspection.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");

const dependency = new Dependencies(500).get("introspection");

let server: AnsweringServer;

beforeAll(async () => {
  server = await startAnsweringServer();
});

afterAll(() => server.close());

beforeEach(() => {
  server.asked.length = 0;
});

function verifierOf(options: Partial<IntrospectionOptions> = {}) {
  return introspectionVerifier({ url: server.url, dependency, accountClaim: "sub", ...options }, { now: () => NOW });
}

/** Returns the result of the verifier for this answer of the authorization server. */
async function verdictOn(answer: unknown, options: Partial<IntrospectionOptions> = {}) {
  server.answer(json(answer));
  return verifierOf(options).verify("token-1");
}

describe("the introspection request (RFC 7662 §2.1)", () => {
  it("posts the token as a form", async () => {
    server.answer(json({ active: false }));
    await verifierOf().verify("a+b/c=&token=other");
    const [asked] = server.asked;
    expect(asked?.method).toBe("POST");
    expect(asked?.headers["content-type"]).toMatch(/^application\/x-www-form-urlencoded/);
    expect(asked?.headers.accept).toBe("application/json");
    expect(asked?.headers.authorization).toBeUndefined();
    expect([...new URLSearchParams(asked?.body)]).toEqual([
      ["token", "a+b/c=&token=other"],
      ["token_type_hint", "access_token"],
    ]);
  });

  const credentials = [
    ["plain ones", "client", "secret", "client:secret"],
    ["a colon in both", "a:b", "c:d", "a%3Ab:c%3Ad"],
    ["reserved characters", "a&b=c", "100% +/?#", "a%26b%3Dc:100%25+%2B%2F%3F%23"],
    ["letters beyond ASCII", "Jürgen", "пароль €", "J%C3%BCrgen:%D0%BF%D0%B0%D1%80%D0%BE%D0%BB%D1%8C+%E2%82%AC"],
    ["no secret", "client", undefined, "client:"],
  ] as const;
  it.each(credentials)(
    "form-encodes the client's credentials (RFC 6749 §2.3.1): %s",
    async (_, id, secret, expected) => {
      await verdictOn({ active: false }, { clientId: id, ...(secret !== undefined && { clientSecret: secret }) });
      const [scheme = "", value = ""] = server.asked[0]?.headers.authorization?.split(" ") ?? [];
      expect(scheme).toBe("Basic");
      expect(Buffer.from(value, "base64").toString("latin1")).toBe(expected);
    },
  );
});

describe("the introspection answer", () => {
  it("names the account if the token is active, and the expiry if there is one", async () => {
    expect(await verdictOn({ active: true, sub: "a" })).toEqual({ account: "a" });
    expect(await verdictOn({ active: true, sub: "a", exp: NOW / 1000 + 60 })).toEqual({
      account: "a",
      expiresAt: NOW + 60_000,
    });
  });

  it("has the account in the configured member", async () => {
    const answer = { active: true, sub: "a", username: "b" };
    expect(await verdictOn(answer, { accountClaim: "username" })).toEqual({ account: "b" });
  });

  it.each([
    ["is inactive", { active: false, sub: "a" }],
    ["has the account only in another member", { active: true, username: "a" }],
    ["has an empty account", { active: true, sub: "" }],
    ["has a number as account", { active: true, sub: 1 }],
    ["has an account of U+0000", { active: true, sub: "\0" }],
    ["has expired", { active: true, sub: "a", exp: NOW / 1000 - 1 }],
    ["expires at this moment", { active: true, sub: "a", exp: NOW / 1000 }],
  ])("rejects the token if it %s", async (_, answer) => {
    expect(await verdictOn(answer)).toBeUndefined();
  });

  it("is read without members of the prototype of the object", async () => {
    for (const accountClaim of ["constructor", "toString", "__proto__"]) {
      expect(await verdictOn({ active: true }, { accountClaim })).toBeUndefined();
    }
  });
});

describe("the verifier throws Unavailable, and does not reject the token, if introspection fails", () => {
  const failingReplies: readonly (readonly [string, Reply])[] = [
    ["500", json({ active: true, sub: "a" }, 500)],
    ["401: our own credentials are refused", json({ error: "invalid_client" }, 401)],
    ["a redirect", (response) => response.writeHead(307, { Location: server.url }).end()],
    ["garbage", plain("<html>", 200, "application/json")],
    ["half a document", plain('{"active":tr', 200, "application/json")],
    ["nothing", plain("")],
    ["null", json(null)],
    ["a list", json([{ active: true, sub: "a" }])],
    ["a text", json("active")],
    ["an object that says neither active nor inactive", json({ sub: "a" })],
    ["an active that is no boolean", json({ active: "true", sub: "a" })],
    ["hanging up", hangUp],
    ["silence", silence],
  ];
  it.each(failingReplies)("for the answer: %s", async (_, reply) => {
    server.answer(reply);
    await expect(verifierOf().verify("token-1")).rejects.toBeInstanceOf(Unavailable);
  });

  it("with an answer that is not JSON, which the error does not quote", async () => {
    server.answer(plain("upstream-text", 200, "application/json"));
    const error = await verifierOf()
      .verify("token-1")
      .catch((caught: unknown) => caught);
    expect(inspect(error, { depth: 9 })).not.toContain("upstream-text");
  });

  it("for a server that starts to answer and never ends", async () => {
    server.answer((response) => response.writeHead(200).write('{"active":true,'));
    await expect(verifierOf().verify("token-1")).rejects.toBeInstanceOf(Unavailable);
  });

  it("if no server listens", async () => {
    await expect(verifierOf({ url: await deadUrl() }).verify("token-1")).rejects.toBeInstanceOf(Unavailable);
  });

  it("after a redirect, to which no credentials are sent", async () => {
    const elsewhere = await startAnsweringServer();
    elsewhere.answer(json({ active: true, sub: "a" }));
    server.answer((response) => response.writeHead(307, { Location: elsewhere.url }).end());
    await expect(verifierOf({ clientId: "c", clientSecret: "s" }).verify("t")).rejects.toBeInstanceOf(Unavailable);
    expect(elsewhere.asked).toEqual([]);
    await elsewhere.close();
  });
});
