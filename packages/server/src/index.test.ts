import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { transport } from "../../../e2e/support/client.ts";
import { sharedDatabase, type TestDatabase } from "../../../e2e/support/database.ts";
import { createEndpoint, optionsFromEnvironment, type RejectedEvent, type SessionVerifier } from "./index.ts";
import type { ByteStream, IngestRequest, RequestHeaders } from "./ingest/request.ts";

let database: TestDatabase;
let environment: Record<string, string>;

beforeAll(async () => {
  database = await sharedDatabase();
  environment = await database.environment();
});

afterAll(() => database?.close());

const REQUEST: IngestRequest = {
  method: "POST",
  headers: { all: (name) => (name === "authorization" ? ["Bearer token"] : []) },
  body: { forEach: async () => "end" },
  peer: "192.0.2.1",
};

describe("the options of createEndpoint", () => {
  it("configure the endpoint", async () => {
    const { DRS_DATABASE_URL: url = "", DRS_KEY_DIR: directory = "", DRS_KEY_ENCRYPTION_KEY: key = "" } = environment;
    const endpoint = await createEndpoint({
      database: { url },
      keys: { directory, encryptionKey: Buffer.from(key, "base64") },
      throttle: { ratePerSecond: 1, burst: 1 },
      sessions: { verify: async () => ({ account: "one" }) },
    });
    try {
      const answers = [await endpoint.ingest(REQUEST), await endpoint.ingest(REQUEST)];
      expect(answers.map(({ status }) => status)).toEqual([400, 429]);
    } finally {
      await endpoint.close();
    }
  });

  it("give the host each rejected request with its cause, which the client does not learn", async () => {
    const rejected: RejectedEvent[] = [];
    const endpoint = await createEndpoint({
      ...optionsFromEnvironment(environment),
      sessions: { verify: async (token) => (token === "token" ? { account: "one" } : undefined) },
      actions: { find: async () => "other-account" },
      onRejected: (one) => {
        rejected.push(one);
        throw new Error("the host fails");
      },
    });
    const post = (authorization: string, text = "") => {
      const headers = { authorization, "idempotency-key": "key-1" };
      const all: RequestHeaders["all"] = (name) => (name in headers ? [headers[name as keyof typeof headers]] : []);
      const forEach: ByteStream["forEach"] = async (take) => (take(Buffer.from(text)) ? "end" : "stopped");
      return endpoint.ingest({ ...REQUEST, headers: { all }, body: { forEach } });
    };
    try {
      await post(`Bearer ${"a".repeat(9_000)}`);
      await post("Bearer token", "{");
      const who = { token: "token", account: "one", actionId: "a", actionType: "payment", sessionId: "s" };
      const { body } = await post("Bearer token", JSON.stringify(transport(who)));
      expect(body).not.toContain("other-account");
    } finally {
      await endpoint.close();
    }
    expect(rejected).toEqual([
      { status: 401, code: "credentials-invalid", cause: "too-long" },
      { status: 400, code: "text-invalid", account: "one" },
      { status: 403, code: "action-refused", cause: "other-account", account: "one" },
    ]);
  });

  it("that are invalid are all reported, before a connection is opened", async () => {
    const wrong = createEndpoint({ database: { url: "db" }, throttle: { burst: 0 } });
    await expect(wrong).rejects.toThrow(
      /database.url must be a URL that starts with postgres: or postgresql:; throttle.burst must be a whole number from 1/,
    );
  });
});

describe("a host's onError", () => {
  const sessions: SessionVerifier = {
    verify: () => Promise.reject(new Error("the host's verifier broke")),
  };
  const throwing: readonly (readonly [string, () => unknown])[] = [
    [
      "throws",
      () => {
        throw new Error("the host's log broke");
      },
    ],
    ["rejects", () => Promise.reject(new Error("the host's log broke"))],
  ];
  it.each(throwing)("that %s does not reject the promise of ingest(): the answer is still 500", async (_, fail) => {
    const reported: unknown[] = [];
    const onError = (error: unknown, operation: string): unknown => {
      reported.push({ error, operation });
      return fail();
    };
    const endpoint = await createEndpoint({ ...optionsFromEnvironment(environment), sessions, onError });
    try {
      expect(await endpoint.ingest(REQUEST)).toMatchObject({ status: 500 });
      expect(reported).toEqual([
        {
          error: expect.objectContaining({ message: "the host's verifier broke" }) as unknown,
          operation: "ingest request",
        },
      ]);
    } finally {
      await endpoint.close();
    }
  });
});

describe("a host's verifier", () => {
  it("receives the token and the source address of the request, of an IPv6 address its /64", async () => {
    const asked: unknown[] = [];
    const sessions: SessionVerifier = {
      verify: async (...args) => {
        asked.push(args);
        return undefined;
      },
    };
    const endpoint = await createEndpoint({ ...optionsFromEnvironment(environment), sessions });
    try {
      for (const peer of ["192.0.2.1:4711", "[2001:DB8::1]:4711"]) {
        expect(await endpoint.ingest({ ...REQUEST, peer })).toMatchObject({ status: 401 });
      }
      expect(asked).toEqual([
        ["token", "192.0.2.1"],
        ["token", "2001:db8:0:0::/64"],
      ]);
    } finally {
      await endpoint.close();
    }
  });
});
