import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Config, readConfig } from "../../base/config/config.ts";
import { Dependencies } from "../../base/dependencies/dependencies.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { type AnsweringServer, json, startAnsweringServer } from "./answering-server.fixture.ts";
import { openSessions } from "./sessions.ts";

const OWN = `drs_${"A".repeat(43)}`;

function configOf(environment: Record<string, string>): Config {
  const result = readConfig(environment, "/");
  if (!result.ok) throw new Error(result.problems.join("\n"));
  return result.config;
}

/** A database that knows one token's account. */
function databaseOf(account: string | undefined): { executor: Executor; queries: () => number } {
  let queries = 0;
  const query = async (_text: string, [hashes]: readonly unknown[] = []): Promise<never> => {
    queries++;
    const rows =
      account === undefined ? [] : [{ token_hash: (hashes as Buffer).subarray(24), account, expires_ms: 9e15 }];
    return { rows } as never;
  };
  return { executor: { query }, queries: () => queries };
}

const clock = { now: () => Date.now() };

describe("the session verifier asks", () => {
  let server: AnsweringServer;

  beforeAll(async () => {
    server = await startAnsweringServer();
    server.answer(json({ active: true, sub: "foreign" }));
  });

  afterAll(() => server.close());

  it("only the table, if nothing else is configured", async () => {
    const { executor, queries } = databaseOf("own");
    const sessions = openSessions(configOf({}), executor, new Dependencies(500), clock);
    expect(await sessions.verify(OWN)).toMatchObject({ account: "own" });
    expect(await sessions.verify("other")).toBeUndefined();
    expect(queries()).toBe(1);
  });

  it("the table for opaque tokens, and the authorization server for all others", async () => {
    const { executor } = databaseOf("own");
    const sessions = openSessions(
      configOf({ DRS_INTROSPECTION_URL: server.url }),
      executor,
      new Dependencies(5_000),
      clock,
    );
    expect(await sessions.verify("other")).toEqual({ account: "foreign" });
    expect(await sessions.verify(OWN)).toMatchObject({ account: "own" });
    expect(server.asked.map(({ body }) => new URLSearchParams(body).get("token"))).toEqual(["other"]);
  });

  it("the authorization server, even if invalid tokens of another source are waiting for it", async () => {
    server.answer((response, asked) => {
      if (new URLSearchParams(asked.body).get("token") === "good") json({ active: true, sub: "good" })(response, asked);
    });
    const sessions = openSessions(
      configOf({ DRS_INTROSPECTION_URL: server.url }),
      databaseOf(undefined).executor,
      new Dependencies(5_000),
      clock,
    );
    const bad = Array.from({ length: 600 }, (_, index) => sessions.verify(`bad-${index}`, "192.0.2.1"));
    const settled = Promise.allSettled(bad);
    expect(await sessions.verify("good", "192.0.2.2")).toEqual({ account: "good" });
    server.hangUpOnAll();
    for (const { status } of await settled) expect(status).toBe("rejected");
    server.answer(json({ active: true, sub: "foreign" }));
  });

  it("never the authorization server for an opaque token that the table does not know", async () => {
    server.asked.length = 0;
    const sessions = openSessions(
      configOf({ DRS_INTROSPECTION_URL: server.url }),
      databaseOf(undefined).executor,
      new Dependencies(5_000),
      clock,
    );
    expect(await sessions.verify(OWN)).toBeUndefined();
    expect(server.asked).toEqual([]);
  });
});
