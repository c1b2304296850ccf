import { createHmac } from "node:crypto";
import { exportJWK, exportSPKI, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Dependencies } from "../../base/dependencies/dependencies.ts";
import { Unavailable, VerificationPending } from "../../base/ports.ts";
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
import { DEFAULT_ALGORITHMS, type JwtOptions, jwtVerifier } from "./jwt.ts";

type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>;

const ISSUER = "https://issuer.example";
const AUDIENCE = "device-signals";
const SECRET = "a shared secret that is long enough to be one";
const NOW = Date.parse("2026-03-01T12:00:00Z");
const NOW_S = NOW / 1000;
const clock = { now: () => NOW };

const secretBytes = (secret: string): Uint8Array => new TextEncoder().encode(secret);

const CLAIMS: JWTPayload = { iss: ISSUER, aud: AUDIENCE, sub: "customer-1", iat: NOW_S - 60, exp: NOW_S + 600 };

/** A token with these claims instead of the usual ones. `undefined` removes a claim. */
function tokenOf(
  claims: Record<string, unknown>,
  key: Parameters<SignJWT["sign"]>[0] = secretBytes(SECRET),
  header: { alg: string; kid?: string } = { alg: "HS256" },
): Promise<string> {
  const all = Object.entries({ ...CLAIMS, ...claims }).filter(([, value]) => value !== undefined);
  return new SignJWT(Object.fromEntries(all)).setProtectedHeader(header).sign(key);
}

const encodedPart = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

function verifierOf(options: Partial<JwtOptions> = {}) {
  return jwtVerifier(
    {
      keys: { secret: SECRET },
      issuer: ISSUER,
      audience: AUDIENCE,
      algorithms: DEFAULT_ALGORITHMS.secret,
      accountClaim: "sub",
      clockSkew: 30_000,
      ...options,
    },
    clock,
  );
}

describe("the JWT verifier with a shared secret", () => {
  it("accepts a valid token until its expiry plus the tolerated difference", async () => {
    expect(await verifierOf().verify(await tokenOf({}))).toEqual({
      account: "customer-1",
      expiresAt: NOW + 600_000 + 30_000,
    });
  });

  it("reads the account from the configured claim", async () => {
    const token = await tokenOf({ account: "other", sub: "customer-1" });
    expect(await verifierOf({ accountClaim: "account" }).verify(token)).toMatchObject({ account: "other" });
  });

  it("accepts a token with the audience among others", async () => {
    expect(await verifierOf().verify(await tokenOf({ aud: ["else", AUDIENCE] }))).toBeDefined();
  });

  const tolerated = [
    ["expired within the tolerated difference", { exp: NOW_S - 29 }],
    ["not yet valid within the tolerated difference", { nbf: NOW_S + 29 }],
  ] as const;
  it.each(tolerated)("accepts a token that is %s", async (_, claims) => {
    expect(await verifierOf().verify(await tokenOf(claims))).toMatchObject({ account: "customer-1" });
  });

  const rejected: readonly (readonly [string, Record<string, unknown>])[] = [
    ["of another issuer", { iss: "https://issuer.example.evil" }],
    ["of no issuer", { iss: undefined }],
    ["for another audience", { aud: "another" }],
    ["for other audiences", { aud: ["another", "and another"] }],
    ["for no audience", { aud: undefined }],
    ["expired beyond the tolerated difference", { exp: NOW_S - 31 }],
    ["expired since the year 1970", { exp: 0 }],
    ["without an expiry", { exp: undefined }],
    ["with an expiry that is no number", { exp: String(NOW_S + 600) }],
    ["not valid for some time yet", { nbf: NOW_S + 31 }],
    ["without the account", { sub: undefined }],
    ["with an empty account", { sub: "" }],
    ["with a number as account", { sub: 42 }],
    ["with null as account", { sub: null }],
    ["with a list as account", { sub: ["customer-1"] }],
    ["with an account that is too long", { sub: "x".repeat(257) }],
    ["with U+0000 in the account", { sub: "customer-1\0" }],
  ];
  it.each(rejected)("rejects a token %s", async (_, claims) => {
    expect(await verifierOf().verify(await tokenOf(claims))).toBeUndefined();
  });

  it("rejects a token signed with another secret", async () => {
    expect(await verifierOf().verify(await tokenOf({}, secretBytes(`${SECRET}!`)))).toBeUndefined();
  });

  it("rejects a token of a stronger algorithm than the pinned one", async () => {
    const token = await tokenOf({}, secretBytes(SECRET.repeat(2)), { alg: "HS512" });
    expect(await verifierOf({ keys: { secret: SECRET.repeat(2) } }).verify(token)).toBeUndefined();
  });

  it("rejects a token without a signature, in every form", async () => {
    const good = await tokenOf({});
    const [, payload = ""] = good.split(".");
    for (const alg of ["none", "None", "NONE", ""]) {
      expect(await verifierOf().verify(`${encodedPart({ alg })}.${payload}.`)).toBeUndefined();
    }
    expect(await verifierOf().verify(good.slice(0, good.lastIndexOf(".") + 1))).toBeUndefined();
    expect(
      await verifierOf({ algorithms: ["none"] }).verify(`${encodedPart({ alg: "none" })}.${payload}.`),
    ).toBeUndefined();
  });

  it("rejects a token whose payload was changed", async () => {
    const [head = "", , signature = ""] = (await tokenOf({})).split(".");
    expect(
      await verifierOf().verify(`${head}.${encodedPart({ ...CLAIMS, sub: "customer-2" })}.${signature}`),
    ).toBeUndefined();
  });

  it("rejects a token whose header was changed", async () => {
    const [, payload = "", signature = ""] = (await tokenOf({})).split(".");
    expect(
      await verifierOf().verify(`${encodedPart({ alg: "HS256", kid: "x" })}.${payload}.${signature}`),
    ).toBeUndefined();
  });

  it("rejects a valid token with any one character changed or removed", async () => {
    const verifier = verifierOf();
    const good = await tokenOf({});
    for (let at = 0; at < good.length; at++) {
      // The last character is left out: it has bits that do not belong to the signature.
      if (at === good.length - 1) continue;
      const other = good[at] === "A" ? "B" : "A";
      expect(await verifier.verify(good.slice(0, at) + other + good.slice(at + 1)), `changed at ${at}`).toBeUndefined();
      expect(await verifier.verify(good.slice(0, at) + good.slice(at + 1)), `removed at ${at}`).toBeUndefined();
    }
  });

  it.each(["", "x", "a.b", "a.b.c", "..", "a.b.c.d.e", `${encodedPart({ alg: "HS256" })}.${encodedPart("text")}.x`])(
    "rejects the text %j",
    async (token) => {
      expect(await verifierOf().verify(token)).toBeUndefined();
    },
  );

  it("rejects a signed payload that is no object", async () => {
    for (const payload of ["null", "[]", '"text"', "1", "{"]) {
      const signed = `${encodedPart({ alg: "HS256" })}.${Buffer.from(payload).toString("base64url")}`;
      const signature = createHmac("sha256", SECRET).update(signed).digest("base64url");
      expect(await verifierOf().verify(`${signed}.${signature}`), payload).toBeUndefined();
    }
  });
});

describe("the JWT verifier with keys at a URL", () => {
  const dependency = new Dependencies(500).get("jwks");

  let server: AnsweringServer;
  let es: KeyPair;
  let rs: KeyPair;
  let esJwk: JWK;
  let rsJwk: JWK;

  beforeAll(async () => {
    server = await startAnsweringServer();
    es = await generateKeyPair("ES256", { extractable: true });
    rs = await generateKeyPair("RS256", { extractable: true });
    esJwk = { ...(await exportJWK(es.publicKey)), kid: "es" };
    rsJwk = { ...(await exportJWK(rs.publicKey)), kid: "rs" };
  });

  afterAll(() => server.close());

  beforeEach(() => {
    server.asked.length = 0;
    server.answer(json({ keys: [esJwk, rsJwk] }));
  });

  const remote = (options: Partial<JwtOptions> = {}) =>
    verifierOf({ keys: { dependency, jwksUrl: server.url }, algorithms: DEFAULT_ALGORITHMS.jwks, ...options });

  it("accepts tokens of each key, and fetches the keys once", async () => {
    const verifier = remote();
    const tokens = [
      await tokenOf({}, es.privateKey, { alg: "ES256", kid: "es" }),
      await tokenOf({}, rs.privateKey, { alg: "RS256", kid: "rs" }),
      await tokenOf({}, rs.privateKey, { alg: "PS256", kid: "rs" }).catch(() => undefined),
      await tokenOf({ sub: "customer-2" }, es.privateKey, { alg: "ES256", kid: "es" }),
    ].filter((token) => token !== undefined);
    const sessions = await Promise.all(tokens.map((token) => verifier.verify(token)));
    expect(sessions.at(0)).toEqual({ account: "customer-1", expiresAt: NOW + 630_000 });
    expect(sessions.at(1)).toMatchObject({ account: "customer-1" });
    expect(sessions.at(-1)).toMatchObject({ account: "customer-2" });
    expect(server.asked).toHaveLength(1);
  });

  it("accepts EdDSA", async () => {
    const ed = await generateKeyPair("EdDSA", { extractable: true });
    server.answer(json({ keys: [{ ...(await exportJWK(ed.publicKey)), kid: "ed" }] }));
    const token = await tokenOf({}, ed.privateKey, { alg: "EdDSA", kid: "ed" });
    expect(await remote().verify(token)).toMatchObject({ account: "customer-1" });
  });

  it("rejects an RSA signature if only ES256 is pinned", async () => {
    const token = await tokenOf({}, rs.privateKey, { alg: "RS256", kid: "rs" });
    expect(await remote().verify(token)).toBeDefined();
    expect(await remote({ algorithms: ["ES256"] }).verify(token)).toBeUndefined();
  });

  it("rejects an HMAC under the text of a public key", async () => {
    const spki = await exportSPKI(rs.publicKey);
    const texts = [spki, spki.trim(), JSON.stringify(rsJwk), rsJwk.n ?? ""];
    for (const text of texts) {
      const token = await tokenOf({}, secretBytes(text), { alg: "HS256", kid: "rs" });
      expect(await remote().verify(token)).toBeUndefined();
      expect(
        await remote({ algorithms: ["RS256", "HS256"] }).verify(token),
        "even where HS256 is let in",
      ).toBeUndefined();
    }
  });

  it("rejects a token that another key signed under a known name", async () => {
    const forger = await generateKeyPair("ES256");
    expect(await remote().verify(await tokenOf({}, forger.privateKey, { alg: "ES256", kid: "es" }))).toBeUndefined();
  });

  it("rejects a token that contains its own key", async () => {
    const forger = await generateKeyPair("ES256", { extractable: true });
    const token = await new SignJWT(CLAIMS)
      .setProtectedHeader({ alg: "ES256", jwk: await exportJWK(forger.publicKey), jku: server.url })
      .sign(forger.privateKey);
    expect(await remote().verify(token)).toBeUndefined();
  });

  it("rejects a token of an unknown key, and fetches keys no more often than the pause allows", async () => {
    const verifier = remote();
    const stranger = await generateKeyPair("ES256");
    for (let round = 0; round < 5; round++) {
      const token = await tokenOf({}, stranger.privateKey, { alg: "ES256", kid: `stranger-${round}` });
      if (round === 0) expect(await verifier.verify(token), "the keys were fetched for it").toBeUndefined();
      else await expect(verifier.verify(token)).rejects.toBeInstanceOf(VerificationPending);
    }
    expect(server.asked.length).toBeLessThanOrEqual(2);
  });

  it("does not reject a token of a key that was just added, but says when to try again", async () => {
    const verifier = remote();
    expect(await verifier.verify(await tokenOf({}, es.privateKey, { alg: "ES256", kid: "es" }))).toBeDefined();
    const next = await generateKeyPair("ES256", { extractable: true });
    server.answer(json({ keys: [esJwk, { ...(await exportJWK(next.publicKey)), kid: "next" }] }));
    const token = await tokenOf({ sub: "customer-9" }, next.privateKey, { alg: "ES256", kid: "next" });
    const pending = await verifier.verify(token).catch((error: unknown) => error);
    expect(pending).toBeInstanceOf(VerificationPending);
    const { retryAfterSeconds } = pending as VerificationPending;
    expect(retryAfterSeconds).toBeGreaterThan(0);
    expect(retryAfterSeconds).toBeLessThanOrEqual(30);
    const realNow = Date.now;
    try {
      Date.now = () => realNow() + retryAfterSeconds * 1_000;
      expect(await verifier.verify(token)).toMatchObject({ account: "customer-9" });
    } finally {
      Date.now = realNow;
    }
  });

  it("rejects a token of an unknown key at once if issuer or algorithm do not fit", async () => {
    const verifier = remote({ algorithms: ["ES256"] });
    expect(await verifier.verify(await tokenOf({}, es.privateKey, { alg: "ES256", kid: "es" }))).toBeDefined();
    const stranger = await generateKeyPair("ES256");
    const other = { iss: "https://issuer.example.evil" };
    expect(
      await verifier.verify(await tokenOf(other, stranger.privateKey, { alg: "ES256", kid: "x" })),
    ).toBeUndefined();
    expect(await verifier.verify(await tokenOf({}, rs.privateKey, { alg: "RS256", kid: "x" }))).toBeUndefined();
    const header = encodedPart({ alg: "ES256", kid: "x" });
    for (const payload of ["AAAA", "", "!", encodedPart("text")]) {
      expect(await verifier.verify(`${header}.${payload}.AAAA`), payload).toBeUndefined();
    }
  });

  it("follows a key rotation once the pause between fetches is over", async () => {
    const verifier = remote();
    expect(await verifier.verify(await tokenOf({}, es.privateKey, { alg: "ES256", kid: "es" }))).toBeDefined();
    const next = await generateKeyPair("ES256", { extractable: true });
    server.answer(json({ keys: [{ ...(await exportJWK(next.publicKey)), kid: "next" }] }));
    const token = await tokenOf({ sub: "customer-9" }, next.privateKey, { alg: "ES256", kid: "next" });
    const realNow = Date.now;
    try {
      // jose reads the clock itself.
      Date.now = () => realNow() + 31_000;
      expect(await verifier.verify(token)).toMatchObject({ account: "customer-9" });
      const old = await tokenOf({}, es.privateKey, { alg: "ES256", kid: "es" });
      await expect(verifier.verify(old), "of the removed key").rejects.toBeInstanceOf(VerificationPending);
      Date.now = () => realNow() + 62_000;
      expect(await verifier.verify(old), "of the removed key, later").toBeUndefined();
    } finally {
      Date.now = realNow;
    }
  });

  const failingReplies: readonly (readonly [string, Reply])[] = [
    ["answers 500", json({ keys: [] }, 500)],
    ["answers 404", plain("", 404)],
    ["answers with garbage", plain("<html>", 200, "application/json")],
    ["answers with half a document", plain('{"keys":[', 200, "application/json")],
    ["answers with null", json(null)],
    ["answers with an object without keys", json({})],
    ["answers with keys that are no list", json({ keys: "none" })],
    ["redirects elsewhere", (response) => response.writeHead(302, { Location: "http://127.0.0.1:1/" }).end()],
    ["hangs up", hangUp],
    ["never answers", silence],
  ];
  it.each(failingReplies)(
    "throws Unavailable, and does not reject the token, when the other side %s, and recovers",
    async (_, reply) => {
      const verifier = remote();
      const token = await tokenOf({}, es.privateKey, { alg: "ES256", kid: "es" });
      server.answer(reply);
      await expect(verifier.verify(token)).rejects.toBeInstanceOf(Unavailable);
      server.answer(json({ keys: [esJwk] }));
      expect(await verifier.verify(token)).toMatchObject({ account: "customer-1" });
    },
  );

  it("throws Unavailable when no server listens there", async () => {
    const verifier = remote({ keys: { dependency, jwksUrl: await deadUrl() } });
    const token = await tokenOf({}, es.privateKey, { alg: "ES256", kid: "es" });
    await expect(verifier.verify(token)).rejects.toBeInstanceOf(Unavailable);
  });

  it("rejects a malformed token without fetching keys", async () => {
    server.answer(plain("", 500));
    for (const token of ["x", "a.b.c", await tokenOf({})]) expect(await remote().verify(token)).toBeUndefined();
    expect(server.asked).toHaveLength(0);
  });
});
