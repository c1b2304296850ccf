import { expect, test } from "vitest";
import { placeOf, readDatabaseUrl } from "./database-url.ts";

test.each([
  ["postgresql://app:p%23%2F%3F%40x@db/events", { host: "db", port: 5432, user: "app", password: "p#/?@x" }],
  ["postgres://app@db:6000", { port: 6000, database: "app", password: "" }],
  ["postgresql://app@[::1]:6000/events", { host: "::1", port: 6000 }],
  ["postgresql://app@/events?host=/run/postgresql", { host: "/run/postgresql" }],
  ["postgresql://app@%2Frun%2Fpostgresql/events", { host: "/run/postgresql" }],
  ["postgresql://app@localhost/events?host=%2Frun%2Fpg&port=6000", { host: "/run/pg", port: 6000 }],
  ["postgresql://app@db/events?sslmode=require", { tls: { verifies: true, direct: false } }],
  ["postgresql://app@db/events?sslmode=no-verify", { tls: { verifies: false, direct: false } }],
  ["postgresql://app@db/events?sslrootcert=system", { tls: { verifies: true, direct: false, authorities: "system" } }],
  ["postgresql://app@db/events?sslmode=disable&sslrootcert=/ca.crt", { tls: undefined }],
  ["postgresql://app@db/events?sslnegotiation=direct", { tls: { verifies: true, direct: true } }],
])("%s is read", (url, expected) => {
  const { value } = readDatabaseUrl(url) as { value: object };
  expect({ tls: undefined, ...value }).toMatchObject(expected);
});

test.each([
  ["postgresql://app:a#b@db/events", "percent-encoded"],
  ["postgresql://app:1/b@db/events", "percent-encoded"],
  ["postgresql://app:1?b@db/events", "percent-encoded"],
  ["postgresql://app:50%@db/events", "percent-encoded"],
  ["postgresql://app:a@b#c@db/events", "percent-encoded"],
  ["postgresql://db/events", "must name a login"],
  ["postgresql://app@one,two/events", "must name one host"],
  ["postgresql://app@one:5432,two:5432/events", "must name one host"],
  ["postgresql://app@one/events?host=one,two", "must name one host"],
  ["postgresql://app@db/events?target_session_attrs=read-write", "must not hold target_session_attrs="],
  ["postgresql://app@db/events?options=-crole%3Dx", "must not hold options="],
  ["postgresql://app@db/events?sslmode=prefer", "must have sslmode=disable, require"],
  ["postgresql://app@db:port/events", "must be a URL"],
  ["mysql://app@db/events", "must be a URL that starts with postgres:"],
])("%s is refused with the reason, and without its password", (url, problem) => {
  const read = readDatabaseUrl(url) as { problem: string };
  expect(read.problem).toContain(problem);
  expect(read.problem).not.toMatch(/a#b|1\/b|1\?b|50%@|b#c/);
});

test("the place of a database holds no password, and an address of IPv6 in brackets", () => {
  const { value } = readDatabaseUrl("postgresql://app:hidden@[::1]:6000/events") as {
    value: Parameters<typeof placeOf>[0];
  };
  expect(placeOf(value)).toBe("app@[::1]:6000/events");
});
