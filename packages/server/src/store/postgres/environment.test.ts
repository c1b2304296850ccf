import { afterEach, beforeEach, expect, test } from "vitest";
import { BoundedClient, type BoundedClientOptions } from "./bounded-client.ts";

/** Values with which each variable would change a connection, or prevent it. */
const VALUES: Readonly<Record<string, string>> = { PGSSLMODE: "require", PGSSLNEGOTIATION: "direct", PGPORT: "1" };

const before = process.env;
let read: string[];

beforeEach(() => {
  read = [];
  // Every variable of libpq and of `pg` begins with PG, so no list of them can be outdated.
  process.env = new Proxy(before, {
    get: (target, name: string) => {
      if (!name.startsWith("PG")) return target[name];
      read.push(name);
      return VALUES[name] ?? "of-environment";
    },
  });
});

afterEach(() => {
  process.env = before;
});

/** What a connection sends, and where. */
function connectionOf(options: BoundedClientOptions): unknown {
  const client = new BoundedClient(options);
  const { host, port, user, database, ssl, sslNegotiation, password } = client as unknown as Record<string, unknown>;
  const sent = (client as unknown as { getStartupConf(): unknown }).getStartupConf();
  return { host, port, user, database, ssl, sslNegotiation, password: String(password), sent };
}

test.each<[string, BoundedClientOptions]>([
  ["the URL of an external database", { connectionString: "postgresql://app@db.internal" }],
  ["a URL with TLS", { connectionString: "postgresql://app:hidden@db.internal:6000/events?sslmode=require" }],
  ["the socket of the embedded database", { host: "/run/drs", user: "postgres" }],
])("a connection to %s takes nothing from a variable of libpq", (_, options) => {
  const poisoned = connectionOf(options);
  expect(read.length, "the driver reads variables").toBeGreaterThan(0);
  process.env = { PATH: before["PATH"] };
  expect(poisoned).toEqual(connectionOf(options));
});
