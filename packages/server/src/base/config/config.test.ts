import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Config, describeConfig, type Environment, readConfig } from "./config.ts";
import { isLoopback } from "./rules.ts";
import { PATHS, settingOf } from "./settings.ts";

const described = (config: Config): Readonly<Record<string, unknown>> =>
  Object.fromEntries(describeConfig(config, {}).map(({ name, value }) => [name, value]));

const DIRECTORY = "/srv/drs";
const KEY = Buffer.alloc(32, 7).toString("base64");
const DATABASE = "postgresql://app:hidden@db/events";
const KEY_DATABASE = "postgresql://app:hidden@keys/keys";
const SECRET = "a secret of thirty-two characters";

/** The settings that an external database requires. */
const EXTERNAL = { DRS_DATABASE_URL: DATABASE, DRS_KEY_DIR: "keys", DRS_KEY_ENCRYPTION_KEY: KEY };
const JWT = { DRS_JWT_ISSUER: "issuer", DRS_JWT_AUDIENCE: "audience" };
const SIGN_IN = {
  DRS_ADMIN_PUBLIC_URL: "https://admin.example",
  DRS_OIDC_ISSUER: "https://login.example/realms/staff",
  DRS_OIDC_CLIENT_ID: "drs",
  DRS_OIDC_ROLE_FILE: "roles.yaml",
};
const COMMAND = { DRS_KEY_ENCRYPTION_KEY_COMMAND: '["pass","show","drs"]' };
const KEY_SOURCES = "DRS_KEY_ENCRYPTION_KEY, DRS_KEY_ENCRYPTION_KEY_FILE";
const twoKeySources = new RegExp(`^${KEY_SOURCES} and DRS_KEY_ENCRYPTION_KEY_COMMAND exclude each other$`);
const noKeySource = new RegExp(`^${KEY_SOURCES} or DRS_KEY_ENCRYPTION_KEY_COMMAND is required`);
const TLS = { DRS_TLS_CERT_FILE: "c.pem", DRS_TLS_KEY_FILE: "k.pem" };

const variables = PATHS.map(settingOf).map((setting) => [setting.variable, setting] as const);

function problemsOf(environment: Environment): readonly string[] {
  const result = readConfig(environment, DIRECTORY);
  return result.ok ? [] : result.problems;
}

function configOf(environment: Environment): Config {
  const result = readConfig(environment, DIRECTORY);
  if (!result.ok) throw new Error(result.problems.join("\n"));
  return result.config;
}

describe("the configuration", () => {
  test("selects an embedded database on loopback by default, with keys next to the data directory and not in it", () => {
    expect(configOf({})).toMatchObject({
      embedded: true,
      service: { host: "127.0.0.1", port: 8080, admin: { host: "127.0.0.1", port: 8081 } },
      database: { directory: "/srv/drs/.data" },
      keys: { directory: "/srv/drs/.keys" },
      throttle: { ratePerSecond: 50, burst: 100 },
      limits: { maxBodyBytes: 262_144, maxAgeMs: 86_400_000, maxFutureMs: 300_000 },
      sessionBinding: "record",
    });
  });

  test("ignores variables of other programs", () => {
    expect(problemsOf({ PATH: "/bin", drs_port: "x", DRSPORT: "x" })).toEqual([]);
  });

  test("has absolute paths in any working directory", () => {
    const config = configOf({ DRS_DATA_DIR: "../data", DRS_KEY_DIR: "/keys" });
    expect([config.database.directory, config.keys.directory]).toEqual(["/srv/data", "/keys"]);
  });

  test.each(variables.filter(([name]) => /_(FILE|DIR|JOURNAL)$/.test(name)).map(([name]) => name))(
    "%s, if it is relative, starts from the same directory as other relative paths",
    (name) => {
      const ADMIN_TLS = { DRS_ADMIN_TLS_CERT_FILE: "c.pem", DRS_ADMIN_TLS_KEY_FILE: "k.pem" };
      const SIGNING = name.startsWith("DRS_OIDC") && SIGN_IN;
      const environment = { ...TLS, ...ADMIN_TLS, ...SIGNING };
      expect(described(configOf({ ...environment, [name]: "there" }))[name]).toBe("/srv/drs/there");
    },
  );

  test("needs no key directory if there is a key database, and sets none if the database is external", () => {
    const keys = { DRS_KEY_DATABASE_URL: KEY_DATABASE, DRS_KEY_ENCRYPTION_KEY: KEY };
    expect(configOf(keys)).toMatchObject({ embedded: true, keys: { directory: undefined } });
    expect(configOf({ DRS_DATABASE_URL: DATABASE, ...keys })).toMatchObject({
      embedded: false,
      keys: { directory: undefined },
    });
  });

  test("is immutable at every depth", () => {
    const config = configOf({ DRS_ADMIN_HOSTS: "one" });
    for (const part of [config, config.throttle, config.service.admin, config.service.admin.hostNames]) {
      expect(part).toSatisfy(Object.isFrozen);
    }
  });

  test("reports all problems at once: unknown names, unreadable values and conflicts", () => {
    const problems = problemsOf({
      DRS_PROT: "8080",
      DRS_PORT: "eighty",
      DRS_MAX_AGE: "a day",
      DRS_DATABASE_URL: DATABASE,
      DRS_TLS_CERT_FILE: "c.pem",
      DRS_KEY_ENCRYPTION_KEY: KEY,
      DRS_KEY_ENCRYPTION_KEY_FILE: "key",
    });
    expect(problems).toEqual([
      "DRS_PROT is not a variable of this server",
      expect.stringMatching(/^DRS_PORT must be a whole number/),
      expect.stringMatching(/^DRS_MAX_AGE must be a duration/),
      expect.stringMatching(twoKeySources),
      expect.stringMatching(/^DRS_KEY_DIR or DRS_KEY_DATABASE_URL is required/),
      "DRS_TLS_CERT_FILE and DRS_TLS_KEY_FILE go together",
    ]);
  });

  test.each(["\n", "\r\n"])("names a variable that ends with a line break: %j", (end) => {
    const problem = "ends with a line break: set it without one, for example by printf instead of echo";
    const environment = { ...EXTERNAL, DRS_DATABASE_URL: DATABASE + end, DRS_KEY_ENCRYPTION_KEY: KEY + end };
    expect(problemsOf(environment)).toEqual([`DRS_DATABASE_URL ${problem}`, `DRS_KEY_ENCRYPTION_KEY ${problem}`]);
  });

  test("counts a variable that can't be read as set, so that no rule reports it again", () => {
    const environment = { ...EXTERNAL, DRS_DATABASE_URL: "db", DRS_MIGRATION_DATABASE_URL: DATABASE };
    expect(problemsOf(environment)).toEqual([
      "DRS_DATABASE_URL must be a URL that starts with postgres: or postgresql:",
    ]);
    expect(problemsOf({ ...EXTERNAL, DRS_KEY_ENCRYPTION_KEY: "short" })).toHaveLength(1);
    expect(problemsOf({ DRS_HOST: "0.0.0.0", DRS_TLS_TERMINATED_BY_PROXY: "yes" })).toEqual([
      "DRS_TLS_TERMINATED_BY_PROXY must be true or false",
    ]);
    expect(problemsOf({ DRS_HOST: "" })).toEqual(["DRS_HOST must not be empty"]);
    expect(problemsOf({ DRS_DATA_DIR: "" })).toEqual(["DRS_DATA_DIR must not be empty"]);
  });

  test.each(variables.map(([name]) => name))("rejects an empty value, which never means the default: %s", (name) => {
    expect(problemsOf({ ...EXTERNAL, ...JWT, ...TLS, [name]: "" })).toContainEqual(
      expect.stringMatching(new RegExp(`^${name} must`)),
    );
  });

  test.each([
    ["DRS_PORT", "65536"],
    ["DRS_DATABASE_POOL", "1"],
    ["DRS_THROTTLE_BURST", "0"],
    ["DRS_MAX_BUFFER_BYTES", "1048575"],
    ["DRS_TRUSTED_PROXY_HOPS", "11"],
    ["DRS_SESSION_BINDING", "maybe"],
    ["DRS_LOG_LEVEL", "loud"],
    // Node would read 0 as no time-out.
    ["DRS_REQUEST_TIMEOUT", "0s"],
    // Node would fire a timer of more than 24.8 days at once.
    ["DRS_DRAIN_TIMEOUT", "30d"],
    ["DRS_JWT_CLOCK_SKEW", "6m"],
  ])("rejects a value that is out of range: %s=%s", (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name} must be`))]);
  });
});

describe("rules between variables", () => {
  const ELSEWHERE = { DRS_ERASURE_JOURNAL: "/elsewhere" };
  const JOURNAL_AWAY = { DRS_ERASURE_JOURNAL_DATABASE_URL: "postgresql://app:hidden@journal/journal" };
  const journalInside = /^DRS_ERASURE_JOURNAL must not be inside DRS_/;
  const keysInside = /^DRS_KEY_DIR must not be inside DRS_DATA_DIR/;
  const notLoopback = /^DRS_HOST is not loopback and TLS is off/;
  const twoVerifiers = /^DRS_JWT_JWKS_URL, DRS_JWT_SECRET and DRS_INTROSPECTION_URL exclude each other/;
  const jwtNeeds = /^DRS_JWT_ISSUER and DRS_JWT_AUDIENCE are required/;
  const unfitAlgorithms = /^DRS_JWT_ALGORITHMS can't work/;
  const jwks = { DRS_JWT_JWKS_URL: "https://id/jwks" };
  const introspection = { DRS_INTROSPECTION_URL: "https://id/introspect" };

  const invalid: [string, Environment, RegExp][] = [
    [
      "two key stores",
      { DRS_KEY_DIR: "keys", DRS_KEY_DATABASE_URL: KEY_DATABASE, DRS_KEY_ENCRYPTION_KEY: KEY },
      /^DRS_KEY_DIR and DRS_KEY_DATABASE_URL exclude each other/,
    ],
    ["two key-encryption keys", { DRS_KEY_ENCRYPTION_KEY: KEY, DRS_KEY_ENCRYPTION_KEY_FILE: "key" }, twoKeySources],
    ["a file and a command", { ...COMMAND, DRS_KEY_ENCRYPTION_KEY_FILE: "key" }, twoKeySources],
    [
      "a previous key next to a command",
      { ...COMMAND, DRS_PREVIOUS_KEY_ENCRYPTION_KEY: KEY },
      /^DRS_PREVIOUS_KEY_ENCRYPTION_KEY needs DRS_KEY_ENCRYPTION_KEY;/,
    ],
    [
      "sign-in without a role file",
      { ...SIGN_IN, DRS_OIDC_ROLE_FILE: undefined },
      /^DRS_OIDC_ROLE_FILE is required with/,
    ],
    [
      "sign-in to no address",
      { ...SIGN_IN, DRS_ADMIN_PUBLIC_URL: undefined },
      /^DRS_ADMIN_PUBLIC_URL is required with/,
    ],
    ["a secret for no issuer", { DRS_OIDC_CLIENT_SECRET: "s" }, /^DRS_OIDC_CLIENT_SECRET has no meaning without/],
    [
      "an issuer over plain HTTP",
      { ...SIGN_IN, DRS_OIDC_ISSUER: "http://login.example" },
      /^DRS_OIDC_ISSUER must start with/,
    ],
    [
      "a public URL with a path",
      { ...SIGN_IN, DRS_ADMIN_PUBLIC_URL: "https://admin.example/console?a=b" },
      /^DRS_ADMIN_PUBLIC_URL must be a scheme, a host, a port and a path/,
    ],
    ["scopes without openid", { ...SIGN_IN, DRS_OIDC_SCOPES: "profile" }, /^DRS_OIDC_SCOPES must be scopes/],
    [
      "an external database without a key store",
      { DRS_DATABASE_URL: DATABASE, DRS_KEY_ENCRYPTION_KEY: KEY },
      /^DRS_KEY_DIR or DRS_KEY_DATABASE_URL is required with DRS_DATABASE_URL/,
    ],
    ["an external database without a key", { DRS_DATABASE_URL: DATABASE, DRS_KEY_DIR: "keys" }, noKeySource],
    ["a key database without a key", { DRS_KEY_DATABASE_URL: KEY_DATABASE }, noKeySource],
    [
      "an owner of no database",
      { DRS_MIGRATION_DATABASE_URL: DATABASE },
      /^DRS_MIGRATION_DATABASE_URL has no meaning without DRS_DATABASE_URL/,
    ],
    [
      "a login of the admin API for no database",
      { DRS_ADMIN_DATABASE_URL: DATABASE },
      /^DRS_ADMIN_DATABASE_URL has no meaning without DRS_DATABASE_URL/,
    ],
    ["keys inside the data directory", { DRS_KEY_DIR: ".data/keys" }, keysInside],
    ["keys deep inside it", { ...ELSEWHERE, DRS_DATA_DIR: "/srv", DRS_KEY_DIR: "/srv/a/../b/keys" }, keysInside],
    ["keys in it itself", { ...ELSEWHERE, DRS_DATA_DIR: "d", DRS_KEY_DIR: "./d/" }, keysInside],
    ["the default keys inside it", { ...ELSEWHERE, DRS_DATA_DIR: "." }, keysInside],
    ["keys inside the root", { ...JOURNAL_AWAY, DRS_DATA_DIR: "/", DRS_KEY_DIR: "/keys" }, keysInside],
    ["the journal inside the data directory", { DRS_DATA_DIR: "d", DRS_ERASURE_JOURNAL: "d/j" }, journalInside],
    ["the default journal inside it", { DRS_DATA_DIR: ".", DRS_KEY_DIR: "/elsewhere" }, journalInside],
    ["the journal inside the keys", { DRS_KEY_DIR: "k", DRS_ERASURE_JOURNAL: "k/j" }, journalInside],
    ["two journals", { ...ELSEWHERE, ...JOURNAL_AWAY }, /^DRS_ERASURE_JOURNAL and DRS_ERASURE_JOURNAL_DATABASE_URL/],
    [
      "a certificate without its key",
      { DRS_TLS_CERT_FILE: "c.pem" },
      /^DRS_TLS_CERT_FILE and DRS_TLS_KEY_FILE go together/,
    ],
    [
      "a key without its certificate",
      { DRS_TLS_KEY_FILE: "k.pem" },
      /^DRS_TLS_CERT_FILE and DRS_TLS_KEY_FILE go together/,
    ],
    ["plain HTTP on every address", { DRS_HOST: "0.0.0.0" }, notLoopback],
    ["plain HTTP on every IPv6 address", { DRS_HOST: "::" }, notLoopback],
    ["plain HTTP on a name", { DRS_HOST: "127.0.0.1.example" }, notLoopback],
    ["two verifiers", { ...jwks, ...JWT, ...introspection }, twoVerifiers],
    ["two kinds of JWT", { ...jwks, ...JWT, DRS_JWT_SECRET: SECRET }, twoVerifiers],
    ["JWTs of any issuer", { ...jwks, DRS_JWT_AUDIENCE: "audience" }, jwtNeeds],
    ["JWTs without a signature", { ...jwks, ...JWT, DRS_JWT_ALGORITHMS: "none" }, unfitAlgorithms],
    ["an algorithm of no key at all", { DRS_JWT_ALGORITHMS: "none" }, unfitAlgorithms],
    ["one unknown algorithm of two", { ...jwks, ...JWT, DRS_JWT_ALGORITHMS: "RS256,rs512" }, unfitAlgorithms],
    ["a shared secret as an RSA key", { DRS_JWT_SECRET: SECRET, ...JWT, DRS_JWT_ALGORITHMS: "RS256" }, unfitAlgorithms],
    ["public keys as shared secrets", { ...jwks, ...JWT, DRS_JWT_ALGORITHMS: "HS256" }, unfitAlgorithms],
    [
      "a client's secret without its id",
      { ...introspection, DRS_INTROSPECTION_CLIENT_SECRET: "s" },
      /^DRS_INTROSPECTION_CLIENT_SECRET needs DRS_INTROSPECTION_CLIENT_ID/,
    ],
    [
      "two listeners on one port",
      { DRS_PORT: "8080", DRS_ADMIN_PORT: "8080" },
      /^DRS_PORT and DRS_ADMIN_PORT name the same port/,
    ],
    ["JWTs for any audience", { DRS_JWT_SECRET: SECRET, DRS_JWT_ISSUER: "issuer" }, jwtNeeds],
  ];
  test.each(invalid)("reject %s", (_, environment, problem) => {
    expect(problemsOf(environment)).toEqual([expect.stringMatching(problem)]);
  });

  const valid: [string, Environment][] = [
    ["an external database with a key directory and a key", EXTERNAL],
    [
      "an external database with a key database and a key file",
      { DRS_DATABASE_URL: DATABASE, DRS_KEY_DATABASE_URL: KEY_DATABASE, DRS_KEY_ENCRYPTION_KEY_FILE: "key" },
    ],
    ["an external database with a command", { DRS_DATABASE_URL: DATABASE, DRS_KEY_DIR: "keys", ...COMMAND }],
    ["an owner's login in addition", { ...EXTERNAL, DRS_MIGRATION_DATABASE_URL: DATABASE }],
    ["an embedded database with a key of the operator's", { DRS_KEY_ENCRYPTION_KEY: KEY }],
    [
      "keys next to the data directory, in one whose name starts alike",
      { DRS_DATA_DIR: "d", DRS_KEY_DIR: "data-keys" },
    ],
    [
      "the working directory as data directory, with a key database",
      {
        DRS_DATA_DIR: ".",
        DRS_KEY_DATABASE_URL: KEY_DATABASE,
        DRS_KEY_ENCRYPTION_KEY: KEY,
        ...ELSEWHERE,
      },
    ],
    ["a data directory that an external database does not use", { ...EXTERNAL, DRS_DATA_DIR: "." }],
    ["TLS on every address", { DRS_HOST: "0.0.0.0", ...TLS }],
    ["a proxy in front", { DRS_HOST: "0.0.0.0", DRS_TLS_TERMINATED_BY_PROXY: "true" }],
    ["an admin listener beyond loopback", { DRS_ADMIN_HOST: "0.0.0.0" }],
    ["JWTs by JWKS", { ...jwks, ...JWT }],
    [
      "JWTs by a shared secret, at the largest clock skew",
      { DRS_JWT_SECRET: SECRET, ...JWT, DRS_JWT_CLOCK_SKEW: "5m" },
    ],
    ["JWTs of chosen algorithms", { ...jwks, ...JWT, DRS_JWT_ALGORITHMS: "ES256,Ed25519" }],
    ["JWTs by a longer hash", { DRS_JWT_SECRET: SECRET, ...JWT, DRS_JWT_ALGORITHMS: "HS256,HS512" }],
    ["two listeners on one port of two addresses", { DRS_ADMIN_HOST: "::1", DRS_ADMIN_PORT: "8080" }],
    ["introspection", introspection],
  ];
  test.each(valid)("accept %s", (_, environment) => {
    expect(problemsOf(environment)).toEqual([]);
  });

  test("say what replaces a setting of an earlier release", () => {
    expect(problemsOf({ DRS_AUDIT_TIME_STAMP_DIR: "stamps", DRS_VAULT_URL: "https://vault" })).toEqual([
      "DRS_AUDIT_TIME_STAMP_DIR is not a variable of this server: let a job run openssl ts over DRS_AUDIT_CHECKPOINTS, as docs/privacy/audit.md describes",
      "DRS_VAULT_URL is not a variable of this server: let DRS_KEY_ENCRYPTION_KEY_COMMAND run deploy/vault/print-keys.mjs, which unwraps by Vault",
    ]);
  });

  test.each(["pass show drs", "[]", '[""]', "{}", '"pass"', '["pass",1]', '["pass","\\u0000"]', '["pass"'])(
    "reject a command that is no JSON array of strings: %j",
    (command) => {
      expect(problemsOf({ DRS_KEY_ENCRYPTION_KEY_COMMAND: command })).toEqual([
        'DRS_KEY_ENCRYPTION_KEY_COMMAND must be a JSON array of strings, such as ["pass","show","drs"]',
      ]);
    },
  );

  test("keep empty arguments of a command, and arguments with characters that a shell would replace", () => {
    const command = ["print", "", "$HOME", "a b", "`id`"];
    const config = configOf({ DRS_KEY_ENCRYPTION_KEY_COMMAND: JSON.stringify(command) });
    expect(config.keys.encryptionKeyCommand).toEqual(command);
  });

  test("count addresses as loopback if only this machine can reach them", () => {
    for (const host of ["127.0.0.1", "127.8.8.8", "localhost", "::1"]) expect(isLoopback(host), host).toBe(true);
    const others = ["0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "127.0.0.1.example", "127.0.0", "localhost.example", ""];
    for (const host of others) expect(isLoopback(host), host).toBe(false);
  });
});

describe("secrets among the variables", () => {
  const MARK = "s3cr3t-m4rk";
  const secretNames = variables.filter(([, variable]) => variable.secret).map(([name]) => name);

  /** A valid value of each secret: a text that contains `MARK`, or the key `KEY`. */
  const validSecrets: Readonly<Record<string, string>> = {
    DRS_DATABASE_URL: `postgresql://app:${MARK}@db/events`,
    DRS_ADMIN_DATABASE_URL: `postgresql://admin:${MARK}@db/events`,
    DRS_MIGRATION_DATABASE_URL: `postgresql://owner:${MARK}@db/events`,
    DRS_KEY_DATABASE_URL: `postgresql://keys:${MARK}@keys/keys`,
    DRS_KEY_ENCRYPTION_KEY: KEY,
    DRS_PREVIOUS_KEY_ENCRYPTION_KEY: KEY,
    DRS_KEY_ENCRYPTION_KEY_COMMAND: `["login","--password","${MARK}"]`,
    DRS_ERASURE_JOURNAL_DATABASE_URL: `postgresql://app:${MARK}@journal/journal`,
    DRS_ACTION_SIGNING_SECRET: `${MARK} of thirty-two characters or more`,
    DRS_JWT_SECRET: `${MARK} of thirty-two characters or more`,
    DRS_INTROSPECTION_CLIENT_SECRET: MARK,
    DRS_OIDC_CLIENT_SECRET: MARK,
    DRS_ADMIN_TOKEN: MARK,
  };
  const companions: Readonly<Record<string, Environment>> = {
    DRS_DATABASE_URL: { ...EXTERNAL },
    DRS_ADMIN_DATABASE_URL: { ...EXTERNAL },
    DRS_MIGRATION_DATABASE_URL: { ...EXTERNAL },
    DRS_KEY_DATABASE_URL: { DRS_KEY_ENCRYPTION_KEY: KEY },
    DRS_JWT_SECRET: JWT,
    DRS_OIDC_CLIENT_SECRET: SIGN_IN,
    DRS_INTROSPECTION_CLIENT_SECRET: { DRS_INTROSPECTION_CLIENT_ID: "client" },
    DRS_PREVIOUS_KEY_ENCRYPTION_KEY: { DRS_KEY_ENCRYPTION_KEY: KEY },
  };

  test("include every variable that is named like a secret, or is a database URL, which may hold a password", () => {
    const named = variables
      .map(([name]) => name)
      .filter((name) => /SECRET|DATABASE_URL|(ENCRYPTION_KEY(_COMMAND)?|_TOKEN)$/.test(name));
    expect(secretNames).toEqual(named);
    expect(Object.keys(validSecrets).toSorted()).toEqual(secretNames.toSorted());
  });

  test.each(secretNames)("are masked in the effective configuration: %s", (name) => {
    const config = configOf({ ...companions[name], [name]: validSecrets[name] });
    const shown = described(config);
    expect(shown[name]).toBe(
      (validSecrets[name] ?? "").startsWith("postgresql:") ? validSecrets[name]?.replace(MARK, "(set)") : "(set)",
    );
    const printed = JSON.stringify(shown);
    expect(printed).not.toContain(MARK);
    expect(printed).not.toContain(KEY.slice(0, 12));
    expect(JSON.stringify(config)).toMatch(name.endsWith("KEY_ENCRYPTION_KEY") ? /7,7,7/ : new RegExp(MARK));
  });

  test("a database URL is shown without passwords, with its login, host and parameters", () => {
    const url = `postgresql://app:${MARK}@db/events?host=%2Frun%2Fpg&sslmode=require`;
    expect(described(configOf({ ...companions["DRS_DATABASE_URL"], DRS_DATABASE_URL: url }))["DRS_DATABASE_URL"]).toBe(
      "postgresql://app:(set)@db/events?host=%2Frun%2Fpg&sslmode=require",
    );
  });

  test.each(secretNames)("are not quoted in the message about a bad value: %s", (name) => {
    const isAnyText = /_CLIENT_SECRET$|^DRS_ADMIN_TOKEN$/.test(name);
    const bad = isAnyText ? "" : `${MARK}://x`;
    const problems = problemsOf({ ...companions[name], [name]: bad });
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^${name} must`))]);
    expect(problems.join("\n")).not.toContain(MARK);
  });

  test("are, like all other values, not quoted in any message", () => {
    const environment = Object.fromEntries(variables.map(([name]) => [name, `${MARK}\u0000 value`]));
    expect(problemsOf(environment).join("\n")).not.toContain(MARK);
  });

  test("are shown as null when they are not set", () => {
    const shown = described(configOf({}));
    expect(Object.keys(shown)).toEqual(variables.map(([name]) => name));
    for (const name of secretNames) expect(shown[name], name).toBeNull();
    expect(shown["DRS_PORT"]).toBe(8080);
  });
});

describe("the declared variables of the configuration", () => {
  test.each(variables)("include %s with a valid default and a meaning", (name, { kind, fallback, meaning }) => {
    if (fallback !== undefined) expect(kind.read(fallback)).toHaveProperty("value");
    expect(meaning, name).toMatch(/\S.*\.$/);
  });

  test("have exactly one row each in docs/configuration.md, with the default", () => {
    const page = readFileSync(join(import.meta.dirname, "../../../../../docs/configuration.md"), "utf8");
    const rows = page.matchAll(/^\| `(DRS_\w+)` \| (.*?) \|/gm);
    const documented = [...rows].map(([, name, fallback]) => [name, fallback]);
    expect(documented).toEqual(
      variables.map(([name, { fallback, secret }]) => {
        return [name, secret ? "(secret)" : fallback === undefined ? "" : `\`${fallback}\``];
      }),
    );
  });
});
