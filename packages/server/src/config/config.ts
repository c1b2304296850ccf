import { isIP } from "node:net";
import { resolve, sep } from "node:path";
import { type Values, type Variable, type VariableName, VARIABLES } from "./variables.ts";

/** The effective configuration: every value typed, every rule between values held. */
export interface Config extends Values {
  /** Absolute. */
  readonly DRS_DATA_DIR: string;
  /** Absolute; `undefined` where the key store is a database. */
  readonly DRS_KEY_DIR: string | undefined;
  /** Absolute; `undefined` where the journal is a database, or nowhere. */
  readonly DRS_ERASURE_JOURNAL: string | undefined;
  /** Absolute. */
  readonly DRS_ADOPTED_FIELDS_FILE: string | undefined;
  /** Whether the embedded PostgreSQL serves. */
  readonly embedded: boolean;
}

export type ConfigResult =
  { readonly ok: true; readonly config: Config } | { readonly ok: false; readonly problems: readonly string[] };

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the `DRS_` variables of an environment. Pure; reports every problem at once; values of secrets stay out of it. */
export function readConfig(environment: Environment, directory: string): ConfigResult {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(environment)) {
    if (name.startsWith("DRS_") && !Object.hasOwn(VARIABLES, name))
      problems.push(`${name} is not a variable of this server`);
  }
  for (const [name, variable] of Object.entries(VARIABLES) as [VariableName, Variable<unknown>][]) {
    const raw = environment[name] ?? variable.fallback;
    if (raw === undefined) continue;
    const result = variable.read(raw);
    if ("problem" in result) problems.push(`${name} ${result.problem}`);
    else values[name] = result.value;
  }
  problems.push(...conflicts(values, environment, directory));
  if (problems.length > 0) return { ok: false, problems };

  const read = values as unknown as Values;
  const embedded = read.DRS_DATABASE_URL === undefined;
  const keyDir = read.DRS_KEY_DIR ?? (embedded && !read.DRS_KEY_DATABASE_URL ? "./.keys" : undefined);
  const journal =
    read.DRS_ERASURE_JOURNAL ?? (embedded && !read.DRS_ERASURE_JOURNAL_DATABASE_URL ? "./.erasures" : undefined);
  const absolute = (path: string | undefined): string | undefined =>
    path === undefined ? undefined : resolve(directory, path);
  const config: Config = {
    ...read,
    DRS_DATA_DIR: resolve(directory, read.DRS_DATA_DIR),
    DRS_KEY_DIR: absolute(keyDir),
    DRS_ERASURE_JOURNAL: absolute(journal),
    DRS_ERASURE_RECEIPT_FILE: absolute(read.DRS_ERASURE_RECEIPT_FILE),
    DRS_ADOPTED_FIELDS_FILE: absolute(read.DRS_ADOPTED_FIELDS_FILE),
    embedded,
  };
  return { ok: true, config };
}

/** A value that can't be read was reported already: its variable counts as set, and no rule checks its value. */
function conflicts(values: Partial<Values>, environment: Environment, directory: string): string[] {
  const problems: string[] = [];
  const problemWhen = (condition: boolean, problem: string): void => {
    if (condition) problems.push(problem);
  };
  const has = (...names: readonly VariableName[]): boolean => names.some((name) => environment[name] !== undefined);
  const external = has("DRS_DATABASE_URL");
  problemWhen(
    has("DRS_KEY_DIR") && has("DRS_KEY_DATABASE_URL"),
    "DRS_KEY_DIR and DRS_KEY_DATABASE_URL exclude each other",
  );
  problemWhen(
    has("DRS_KEY_ENCRYPTION_KEY") && has("DRS_KEY_ENCRYPTION_KEY_FILE"),
    "DRS_KEY_ENCRYPTION_KEY and DRS_KEY_ENCRYPTION_KEY_FILE exclude each other",
  );
  problemWhen(
    has("DRS_PREVIOUS_KEY_ENCRYPTION_KEY") && !has("DRS_KEY_ENCRYPTION_KEY"),
    "DRS_PREVIOUS_KEY_ENCRYPTION_KEY needs DRS_KEY_ENCRYPTION_KEY; a file holds all of its keys itself",
  );
  problemWhen(
    external && !has("DRS_KEY_DIR", "DRS_KEY_DATABASE_URL"),
    "DRS_KEY_DIR or DRS_KEY_DATABASE_URL is required with DRS_DATABASE_URL: keys must be kept apart from the events",
  );
  problemWhen(
    has("DRS_DATABASE_URL", "DRS_KEY_DATABASE_URL") && !has("DRS_KEY_ENCRYPTION_KEY", "DRS_KEY_ENCRYPTION_KEY_FILE"),
    "DRS_KEY_ENCRYPTION_KEY or DRS_KEY_ENCRYPTION_KEY_FILE is required with DRS_DATABASE_URL or DRS_KEY_DATABASE_URL",
  );
  problemWhen(
    has("DRS_MIGRATION_DATABASE_URL") && !external,
    "DRS_MIGRATION_DATABASE_URL has no meaning without DRS_DATABASE_URL",
  );
  const { DRS_DATA_DIR: dataDir, DRS_KEY_DIR: keyDir = "./.keys", DRS_HOST: host } = values;
  problemWhen(
    dataDir !== undefined &&
      !external &&
      !has("DRS_KEY_DATABASE_URL") &&
      isInside(resolve(directory, keyDir), resolve(directory, dataDir)),
    "DRS_KEY_DIR must not be inside DRS_DATA_DIR: with keys in the same backup as the events, no erasure takes effect",
  );
  problemWhen(
    has("DRS_ERASURE_JOURNAL") && has("DRS_ERASURE_JOURNAL_DATABASE_URL"),
    "DRS_ERASURE_JOURNAL and DRS_ERASURE_JOURNAL_DATABASE_URL exclude each other",
  );
  const journal = values.DRS_ERASURE_JOURNAL ?? (external ? undefined : "./.erasures");
  const restoredWith = (name: VariableName, folder: string | undefined): void =>
    problemWhen(
      journal !== undefined &&
        !has("DRS_ERASURE_JOURNAL_DATABASE_URL") &&
        folder !== undefined &&
        isInside(resolve(directory, journal), resolve(directory, folder)),
      `DRS_ERASURE_JOURNAL must not be inside ${name}: restored together with it, it would lack the later erasures`,
    );
  if (!external) restoredWith("DRS_DATA_DIR", dataDir);
  if (!has("DRS_KEY_DATABASE_URL")) restoredWith("DRS_KEY_DIR", keyDir);
  problemWhen(
    has("DRS_TLS_CERT_FILE") !== has("DRS_TLS_KEY_FILE"),
    "DRS_TLS_CERT_FILE and DRS_TLS_KEY_FILE go together",
  );
  problemWhen(
    host !== undefined &&
      !isLoopback(host) &&
      !has("DRS_TLS_CERT_FILE") &&
      values.DRS_TLS_TERMINATED_BY_PROXY === false,
    "DRS_HOST is not loopback and TLS is off: set DRS_TLS_CERT_FILE and DRS_TLS_KEY_FILE, or DRS_TLS_TERMINATED_BY_PROXY=true",
  );
  const verifiers = (["DRS_JWT_JWKS_URL", "DRS_JWT_SECRET", "DRS_INTROSPECTION_URL"] as const).filter((name) =>
    has(name),
  );
  problemWhen(verifiers.length > 1, "DRS_JWT_JWKS_URL, DRS_JWT_SECRET and DRS_INTROSPECTION_URL exclude each other");
  problemWhen(
    has("DRS_JWT_JWKS_URL", "DRS_JWT_SECRET") && !(has("DRS_JWT_ISSUER") && has("DRS_JWT_AUDIENCE")),
    "DRS_JWT_ISSUER and DRS_JWT_AUDIENCE are required with JWT verification",
  );
  const algorithms = has("DRS_JWT_JWKS_URL")
    ? JWT_ALGORITHMS.jwks
    : has("DRS_JWT_SECRET")
      ? JWT_ALGORITHMS.secret
      : [...JWT_ALGORITHMS.jwks, ...JWT_ALGORITHMS.secret];
  problemWhen(
    values.DRS_JWT_ALGORITHMS?.some((name) => !algorithms.includes(name)) ?? false,
    `DRS_JWT_ALGORITHMS can't work: ${JWT_ALGORITHMS.secret.join(", ")} go with DRS_JWT_SECRET, ${JWT_ALGORITHMS.jwks.join(", ")} with DRS_JWT_JWKS_URL`,
  );
  problemWhen(
    has("DRS_INTROSPECTION_CLIENT_SECRET") && !has("DRS_INTROSPECTION_CLIENT_ID"),
    "DRS_INTROSPECTION_CLIENT_SECRET needs DRS_INTROSPECTION_CLIENT_ID",
  );
  const { DRS_PORT: port, DRS_ADMIN_PORT: adminPort } = values;
  problemWhen(
    port !== undefined && port !== 0 && port === adminPort && host === values.DRS_ADMIN_HOST,
    "DRS_PORT and DRS_ADMIN_PORT name the same port of the same address",
  );
  return problems;
}

/** JWS algorithms that `jose` verifies, by the kind of key. */
const JWT_ALGORITHMS: Readonly<Record<"jwks" | "secret", readonly string[]>> = {
  jwks: ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
  secret: ["HS256", "HS384", "HS512"],
};

function isInside(path: string, folder: string): boolean {
  return `${path}${sep}`.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** Whether only this machine can reach the address. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** The effective values for people to read, secrets masked. */
export function describeConfig(config: Config): Readonly<Record<string, unknown>> {
  const names = Object.keys(VARIABLES) as VariableName[];
  return Object.fromEntries(
    names.map((name) => {
      const value = config[name];
      const masked = "secret" in VARIABLES[name] && value !== undefined;
      return [name, masked ? "(set)" : (value ?? null)];
    }),
  );
}
