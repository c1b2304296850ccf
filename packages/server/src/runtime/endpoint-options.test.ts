import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Environment, readConfig } from "../base/config/config.ts";
import { OPTION_PATHS, PATHS, settingOf } from "../base/config/settings.ts";
import { optionsFromEnvironment, resolveOptions } from "./endpoint-options.ts";

const DIRECTORY = "/srv/drs";
const MARK = "s3cr3t-m4rk";
const KEY = Buffer.alloc(32, 7);
const SECRET = "a secret of thirty-two characters";
const sessions = { verify: async () => undefined };
const actions = { find: async () => undefined };

/** The problems of options of any type, as JavaScript may pass them. */
function problemsOf(options: unknown): readonly string[] {
  try {
    resolveOptions(options as never);
    return [];
  } catch (error) {
    if (error instanceof TypeError) return error.message.split("; ");
    throw error;
  }
}

const configOf = (options: object) => resolveOptions({ directory: DIRECTORY, ...options } as never).config;

describe("the options of an endpoint", () => {
  test("have the defaults of the service if they are left out", () => {
    const service = readConfig({}, DIRECTORY);
    expect(service).toEqual({ ok: true, config: configOf({}) });
    expect(configOf({ throttle: {}, sessions: { jwt: {} } })).toEqual(configOf({}));
  });

  test("report every problem at once, by the path of the option", () => {
    const problems = problemsOf({
      database: { url: "db", pool: "8", ulr: "postgresql://db/events" },
      keys: [],
      throttle: { ratePerSecond: 1.5, burst: Number.NaN },
      limits: { maxAgeMs: "24h", maxRequests: null },
      sessionBinding: "maybe",
      journal: { directory: "", databaseUrl: `mysql://app:${MARK}@journal` },
      service: { port: 80 },
      adoptedFields: [["fonts", "digest"]],
      onError: "log",
      directory: 1,
      "throttle.burst": 5,
      ["__proto__"]: {},
      constructor: {},
    });
    expect(problems).toEqual([
      "directory must be a path",
      "onError must be a function",
      'adoptedFields names what the catalog does not list as a field: ["fonts","digest"]',
      "database.ulr is not an option",
      "keys must be a plain object",
      "service is not an option",
      '"throttle.burst" is not an option',
      "__proto__ is not an option",
      "constructor is not an option",
      "database.url must be a URL that starts with postgres: or postgresql:",
      "database.pool must be a whole number from 2 to 200",
      "throttle.ratePerSecond must be a whole number from 0 to 1000000",
      "throttle.burst must be a whole number from 1 to 1000000",
      "limits.maxAgeMs must be a whole number of milliseconds from 0 to 3153600000000 (36500d)",
      "sessionBinding must be one of off, record, enforce",
      "journal.directory must not be empty",
      "journal.databaseUrl must be a URL that starts with postgres: or postgresql:",
      "limits.maxRequests must be a whole number from 1 to 100000",
      "journal.directory and journal.databaseUrl exclude each other",
      "keys.directory or keys.databaseUrl is required with database.url: keys must be kept apart from the events",
      "keys.encryptionKey, keys.encryptionKeyFile or keys.encryptionKeyCommand is required with database.url or keys.databaseUrl",
    ]);
  });

  test.each(OPTION_PATHS)("reject undefined and values of another type, and quote no value: %s", (path) => {
    const wrong = [undefined, { [MARK]: MARK }, [[MARK]], () => MARK];
    for (const value of wrong) {
      const options = path.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
      const problems = problemsOf(options);
      expect(problems[0]).toMatch(new RegExp(`^${path} must`));
      expect(problems.join()).not.toContain(MARK);
    }
  });

  test("reject an object, such as a class instance, whose members would be ignored", () => {
    class Options {
      get throttle(): object {
        return { burst: 1 };
      }
    }
    for (const options of [undefined, null, [], new Options(), new Map()]) {
      expect(problemsOf(options)).toEqual(["the options must be a plain object"]);
    }
    expect(problemsOf({ throttle: new Map([["burst", 1]]) })).toEqual(["throttle must be a plain object"]);
    expect(configOf(runInNewContext("({ throttle: { burst: 1 } })") as object).throttle.burst).toBe(1);
    const inherited = Object.assign(Object.create(null) as object, { throttle: { burst: 1 } });
    expect(problemsOf(Object.create(inherited))).toEqual(["the options must be a plain object"]);
    const hidden = Object.defineProperty({}, "throttle", { value: { burst: 0 }, enumerable: false });
    expect(problemsOf({ [Symbol("burst")]: 1, throttle: { [Symbol.iterator]: 1 } })).toEqual([
      'throttle."Symbol(Symbol.iterator)" is not an option',
      '"Symbol(burst)" is not an option',
    ]);
    expect(problemsOf(hidden)).toEqual([expect.stringMatching(/^throttle.burst must be a whole number/)]);
  });

  test("report a getter, a proxy or an iterator that throws by its path", () => {
    const fail = (): never => {
      throw new Error(MARK);
    };
    const throwing = (name: string): object => Object.defineProperty({}, name, { get: fail, enumerable: true });
    const handlers = ["getPrototypeOf", "ownKeys", "get"].map((trap) => ({ [trap]: fail }));
    for (const handler of handlers) {
      expect(problemsOf(new Proxy({ throttle: { burst: 1 } }, handler)).join()).toMatch(/^[\w ]+ can't be read$/);
      expect(problemsOf({ throttle: new Proxy({ burst: 1 }, handler) }).join()).toMatch(/^[\w.]+ can't be read$/);
    }
    const list = Object.defineProperty(["RS256"], Symbol.iterator, { value: fail });
    expect(
      problemsOf({
        directory: new Proxy({}, handlers[0] ?? {}),
        adoptedFields: new Proxy([], { get: fail }),
        sessions: throwing("verify"),
        actions: throwing("find"),
        throttle: throwing("burst"),
        limits: throwing("maxAgeMs"),
        fromEnvironment: new Proxy({}, { ownKeys: fail }),
      }),
    ).toEqual([
      "directory must be a path",
      "adoptedFields can't be read",
      "sessions can't be read",
      "actions can't be read",
      "fromEnvironment can't be read",
      "throttle.burst can't be read",
      "limits.maxAgeMs can't be read",
    ]);
    expect(problemsOf({ sessions: { jwt: { algorithms: list } } })[0]).toBe("sessions.jwt.algorithms can't be read");
  });

  test("are escaped and shortened in the message if their names are unusual", () => {
    const problems = problemsOf({ "a\u001b[31m\u202e\u2028b": 1, ["x".repeat(10_000)]: 1, throttle: { größe: 1 } });
    expect(problems).toEqual([
      String.raw`"a\u001b[31m\u{202e}\u{2028}b" is not an option`,
      `"${"x".repeat(64)}…" is not an option`,
      'throttle."größe" is not an option',
    ]);
  });

  test("have lists of names, which the configuration copies", () => {
    const algorithms = ["RS256"];
    const jwt = { jwksUrl: "https://id.example/jwks", issuer: "i", audience: "a" };
    const { sessions: configured } = configOf({ sessions: { jwt: { ...jwt, algorithms } } });
    algorithms.push("ES256");
    expect(configured.jwt.algorithms).toEqual(["RS256"]);
    for (const wrong of ["RS256", [], [""], ["RS256", 1], Array(1)]) {
      expect(problemsOf({ sessions: { jwt: { ...jwt, algorithms: wrong } } })).toEqual([
        "sessions.jwt.algorithms must be an array of names",
      ]);
    }
  });

  test("require a source of keys or answers for each way to verify sessions", () => {
    expect(problemsOf({ sessions: { jwt: { issuer: "i", audience: "a" } } })).toEqual([
      "sessions.jwt.jwksUrl or sessions.jwt.secret is required with JWT verification",
    ]);
    expect(problemsOf({ sessions: { introspection: { accountClaim: "sub" } } })).toEqual([
      "sessions.introspection.url is required with introspection",
    ]);
  });

  test("accept keys of 32 bytes, which the configuration copies", () => {
    const encryptionKey = new Uint8Array(KEY);
    const { keys } = configOf({ keys: { encryptionKey } });
    encryptionKey.fill(0);
    expect(keys.encryptionKey).toEqual(KEY);
    for (const wrong of [KEY.toString("base64"), KEY.subarray(1), [...KEY]]) {
      expect(problemsOf({ keys: { encryptionKey: wrong } })).toEqual([
        "keys.encryptionKey must be a Uint8Array of 32 bytes",
      ]);
    }
  });

  test("obey the rules between settings", () => {
    expect(problemsOf({ sessions: { jwt: { secret: SECRET, algorithms: ["RS256"] } } })).toEqual([
      "sessions.jwt.issuer and sessions.jwt.audience are required with JWT verification",
      expect.stringMatching(/^sessions.jwt.algorithms can't work: HS256.* go with sessions.jwt.secret, /),
    ]);
    expect(problemsOf({ sessions: { jwt: { secret: SECRET }, introspection: { url: "https://id" } } })[0]).toBe(
      "sessions.jwt.jwksUrl, sessions.jwt.secret and sessions.introspection.url exclude each other",
    );
  });
});

describe("a function of the host", () => {
  test("replaces the settings of the same name", () => {
    class Host {
      verify = sessions.verify;
      find = actions.find;
    }
    const host = new Host();
    const { ports, config } = resolveOptions({
      sessions: host,
      actions: host,
      adoptedFields: [["device_identity", "model"]],
    });
    expect(ports).toMatchObject({
      sessions: host,
      actions: host,
      adopted: { current: { paths: [["device_identity", "model"]] } },
    });
    expect(config.actions.signingSecret).toBeUndefined();
    expect(resolveOptions({ actions: { signingSecret: SECRET } })).toMatchObject({
      config: { actions: { signingSecret: SECRET } },
      ports: { onError: expect.any(Function) as unknown },
    });
  });

  test.each([undefined, null, "token", sessions.verify])("is not replaced by a default: %s", (missing) => {
    expect(problemsOf({ sessions: missing })).toEqual(["sessions must be a plain object"]);
    expect(problemsOf({ actions: missing })).toEqual(["actions must be a plain object"]);
    expect(problemsOf({ adoptedFields: missing })).toEqual([expect.stringMatching(/^adoptedFields must hold/)]);
  });
});

describe("options from the environment", () => {
  test("are the settings of the variables that are set", () => {
    const environment = {
      DRS_THROTTLE_BURST: "5",
      DRS_MAX_AGE: "1h",
      DRS_PORT: "0",
      DRS_JWT_ALGORITHMS: "RS256, ES256",
    };
    expect(optionsFromEnvironment(environment, DIRECTORY)).toEqual({
      directory: DIRECTORY,
      throttle: { burst: 5 },
      limits: { maxAgeMs: 3_600_000 },
      sessions: { jwt: { algorithms: ["RS256", "ES256"] } },
      fromEnvironment: expect.anything() as unknown,
    });
  });

  test("report every problem of the environment at once, by variable", () => {
    const environment = { DRS_PROT: "1", DRS_MAX_AGE: "a day", DRS_TLS_CERT_FILE: "c.pem", DRS_JWT_SECRET: "short" };
    expect(() => optionsFromEnvironment(environment)).toThrow(
      expect.objectContaining({
        code: "configuration-invalid",
        message: [
          "The configuration is not valid:",
          "  DRS_PROT is not a variable of this server",
          "  DRS_MAX_AGE must be a duration such as 500ms, 30s, 5m, 24h or 7d",
          "  DRS_JWT_SECRET must have at least 32 bytes",
          "  DRS_TLS_CERT_FILE and DRS_TLS_KEY_FILE go together",
          "  DRS_JWT_ISSUER and DRS_JWT_AUDIENCE are required with JWT verification",
        ].join("\n"),
      }) as Error,
    );
  });

  test("report a problem with options of the host by the names of the options", () => {
    const options = optionsFromEnvironment({
      DRS_ERASURE_JOURNAL: "/journal",
      DRS_KEY_DIR: "/keys",
      DRS_ADOPTED_FIELDS_FILE: "fields.json",
    });
    expect(
      problemsOf({ ...options, database: { directory: "/" }, keys: { directory: "/journal" }, adoptedFields: [] }),
    ).toEqual([
      "adoptedFields and adoptedFieldsFile exclude each other",
      expect.stringMatching(/^keys.directory must not be inside database.directory/),
      expect.stringMatching(/^DRS_ERASURE_JOURNAL must not be inside database.directory/),
      expect.stringMatching(/^DRS_ERASURE_JOURNAL must not be inside keys.directory/),
    ]);
  });

  const TEXTS = [
    ..."0 1 2 10 007 500 1024 1048576 2000000000 0s 500ms 1s 30s 5m 1h 24h 30d 999999999d true false off record info comma ".split(
      " ",
    ),
    ..."a,b RS256,ES256 HS512 https://id/x http://localhost/x postgresql://app:p@db/x postgres://db/x /x/y ./z".split(
      " ",
    ),
    KEY.toString("base64"),
    SECRET,
    '["pass","show"]',
    "https://admin.example",
    "openid,profile",
  ];
  const valid = PATHS.map((path) => {
    const { variable, kind } = settingOf(path);
    const found = TEXTS.filter((text) => "value" in kind.read(text));
    if (found.length === 0) throw new Error(`no text is a value of ${variable}`);
    return [variable, found] as const;
  });
  const KEYS = { DRS_KEY_DIR: "keys", DRS_KEY_ENCRYPTION_KEY: KEY.toString("base64") };
  const JWT = { DRS_JWT_ISSUER: "issuer", DRS_JWT_AUDIENCE: "audience" };
  const basis = fc.constantFrom<Environment>({}, KEYS, JWT, {
    ...KEYS,
    ...JWT,
    DRS_DATABASE_URL: "postgresql://db/x",
  });
  const single = fc
    .constantFrom(...valid)
    .chain(([variable, texts]) => fc.constantFrom(...texts).map((text) => ({ [variable]: text })));
  const environments = fc
    .tuple(basis, fc.array(single, { maxLength: 8 }))
    .map(([first, others]) => Object.assign({}, first, ...others) as Environment);

  test("configure an endpoint in the way in which the environment configures the service", () => {
    fc.assert(
      fc.property(environments, (environment) => {
        const read = readConfig(environment, DIRECTORY);
        fc.pre(read.ok);
        const { config } = resolveOptions({ ...optionsFromEnvironment(environment, DIRECTORY) });
        expect({ ...config, service: undefined }).toEqual({ ...read.config, service: undefined });
      }),
      { numRuns: 500 },
    );
  });
});
