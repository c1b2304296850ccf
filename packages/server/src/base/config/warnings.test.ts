import { describe, expect, test } from "vitest";
import { type Environment, readConfig } from "./config.ts";
import { warningsOf } from "./warnings.ts";

const KEY = Buffer.alloc(32, 7).toString("base64");
const EXTERNAL = { DRS_KEY_DIR: "keys", DRS_KEY_ENCRYPTION_KEY: KEY, DRS_ERASURE_JOURNAL: "journal" };

function warnings(environment: Environment): readonly string[] {
  const result = readConfig(environment, "/srv/drs");
  if (!result.ok) throw new Error(result.problems.join("\n"));
  return warningsOf(result.config).map(({ severity, detail }) => `${severity}: ${detail}`);
}

describe("a database on another host without TLS", () => {
  test.each([
    "postgresql://app@db.internal/events",
    "postgresql://app@db.internal/events?sslmode=disable",
    "postgresql://app@10.0.0.5/events",
    "postgresql://app@[2001:db8::5]/events",
    "postgresql://app@localhost/events?host=db.internal",
  ])("is warned about: %s", (url) => {
    const expected = expect.stringMatching(/^warning: DRS_DATABASE_URL connects to another host without TLS/);
    expect(warnings({ ...EXTERNAL, DRS_DATABASE_URL: url })).toEqual([expected]);
  });

  test.each([
    "postgresql://app@db.internal/events?sslmode=verify-full",
    "postgresql://app@db.internal/events?sslmode=require",
    "postgresql://app@db.internal/events?sslrootcert=/nowhere/root.crt",
    "postgresql://app@127.0.0.1/events",
    "postgresql://app@localhost/events?sslmode=disable",
    "postgresql://app@[::1]/events",
    "postgresql://app@localhost/events?host=%2Fvar%2Frun%2Fpostgresql",
  ])("is not assumed of %s", (url) => {
    expect(warnings({ ...EXTERNAL, DRS_DATABASE_URL: url })).toEqual([]);
  });

  test("is reported for each setting that names one, without the password", () => {
    const url = (name: string): string => `postgresql://app:hunter2@${name}.internal/x`;
    const lines = warnings({
      DRS_DATABASE_URL: url("events"),
      DRS_MIGRATION_DATABASE_URL: url("events"),
      DRS_KEY_DATABASE_URL: url("keys"),
      DRS_ERASURE_JOURNAL_DATABASE_URL: url("journal"),
      DRS_KEY_ENCRYPTION_KEY: KEY,
    });
    expect(lines.map((line) => /DRS_\w+/.exec(line)?.[0])).toEqual([
      "DRS_DATABASE_URL",
      "DRS_MIGRATION_DATABASE_URL",
      "DRS_KEY_DATABASE_URL",
      "DRS_ERASURE_JOURNAL_DATABASE_URL",
    ]);
    expect(lines.join("\n")).not.toMatch(/hunter2|internal/);
  });
});

test("a warning says that an admin listener beyond loopback has no TLS", () => {
  const key = { DRS_KEY_ENCRYPTION_KEY: KEY };
  expect(warnings({ ...key, DRS_ADMIN_HOST: "0.0.0.0" })).toEqual([
    expect.stringMatching(/^warning: DRS_ADMIN_HOST is not loopback/),
  ]);
  expect(warnings({ ...key, DRS_ADMIN_HOST: "::1" })).toEqual([]);
});

test("a key-encryption key next to the key store causes only advice, because it is the default for development", () => {
  expect(warnings({})).toEqual([expect.stringMatching(/^advice: the key-encryption key is stored next to/)]);
});

test("a key-encryption key from elsewhere causes no advice", () => {
  for (const source of [
    { DRS_KEY_ENCRYPTION_KEY: KEY },
    { DRS_KEY_ENCRYPTION_KEY_FILE: "/elsewhere/key" },
    { DRS_KEY_ENCRYPTION_KEY_COMMAND: '["pass","show","drs"]' },
  ]) {
    expect(warnings(source)).toEqual([]);
  }
});
