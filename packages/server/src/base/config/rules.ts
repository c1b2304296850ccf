/** Rules between settings. Each setting is named by its path, such as `keys.directory`. */
import { isIP } from "node:net";
import { resolve, sep } from "node:path";
import { type Path, PATHS, type SettingValues } from "./settings.ts";

/** The settings that give a key-encryption key. */
export const KEY_SOURCES = [
  "keys.encryptionKey",
  "keys.encryptionKeyFile",
  "keys.encryptionKeyCommand",
] as const satisfies readonly Path[];

const SIGN_IN_REQUIRED = [
  "service.admin.oidc.clientId",
  "service.admin.oidc.roleFile",
  "service.admin.publicUrl",
] as const satisfies readonly Path[];

const SIGN_IN_SETTINGS = [
  ...SIGN_IN_REQUIRED,
  "service.admin.oidc.clientSecret",
  "service.admin.oidc.rolesClaim",
  "service.admin.oidc.rolesSeparator",
  "service.admin.oidc.nameClaim",
  "service.admin.oidc.scopes",
] as const satisfies readonly Path[];

/** At most one setting of each list may be set. */
export const EXCLUSIVE = [
  ["keys.directory", "keys.databaseUrl"],
  KEY_SOURCES,
  ["journal.directory", "journal.databaseUrl"],
  ["sessions.jwt.jwksUrl", "sessions.jwt.secret", "sessions.introspection.url"],
] as const satisfies readonly (readonly Path[])[];

/** JWS algorithms that `jose` verifies, by the kind of key. */
const JWT_ALGORITHMS: Readonly<Record<"jwks" | "secret", readonly string[]>> = {
  jwks: ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
  secret: ["HS256", "HS384", "HS512"],
};

export interface Choices {
  /** Whether the setting was given. A setting whose value has a problem counts as given. */
  readonly isSet: (path: Path) => boolean;
  /** The valid values, and the defaults of settings that are not set. */
  readonly values: Partial<SettingValues>;
  /** The name of a setting in messages: its option or its variable. */
  readonly nameOf: (path: Path) => string;
  /** The directory that relative paths start from. */
  readonly directory: string;
}

/**
 * Finds conflicts between settings. No rule checks a value that has a problem, because that problem is already
 * reported.
 */
export function conflicts({ isSet, values, nameOf: n, directory }: Choices): string[] {
  const problems: string[] = [];
  const problemWhen = (condition: boolean, problem: string): void => {
    if (condition) problems.push(problem);
  };
  const has = (...paths: readonly Path[]): boolean => paths.some(isSet);
  const isWithin = (path: string, folder: string): boolean =>
    isInside(resolve(directory, path), resolve(directory, folder));

  for (const paths of EXCLUSIVE) {
    problemWhen(paths.filter(isSet).length > 1, `${joinNames(paths.map(n))} exclude each other`);
  }
  problemWhen(
    has("keys.previousEncryptionKey") && !has("keys.encryptionKey"),
    `${n("keys.previousEncryptionKey")} needs ${n("keys.encryptionKey")}; every other source gives all of its keys itself`,
  );
  const signIn = "service.admin.oidc.issuer";
  for (const path of SIGN_IN_SETTINGS) {
    problemWhen(has(path) && !has(signIn), `${n(path)} has no meaning without ${n(signIn)}`);
  }
  for (const path of SIGN_IN_REQUIRED) {
    problemWhen(has(signIn) && !has(path), `${n(path)} is required with ${n(signIn)}`);
  }
  const external = has("database.url");
  problemWhen(
    external && !has("keys.directory", "keys.databaseUrl"),
    `${n("keys.directory")} or ${n("keys.databaseUrl")} is required with ${n("database.url")}: keys must be kept apart from the events`,
  );
  problemWhen(
    has("database.url", "keys.databaseUrl") && !has(...KEY_SOURCES),
    `${joinNames(KEY_SOURCES.map(n), "or")} is required with ${n("database.url")} or ${n("keys.databaseUrl")}`,
  );
  for (const path of ["database.migrationUrl", "service.admin.database.url", "service.databaseDiskBytes"] as const) {
    problemWhen(has(path) && !external, `${n(path)} has no meaning without ${n("database.url")}`);
  }
  const { "database.directory": dataDir, "keys.directory": keyDir = "./.keys" } = values;
  problemWhen(
    dataDir !== undefined && !external && !has("keys.databaseUrl") && isWithin(keyDir, dataDir),
    `${n("keys.directory")} must not be inside ${n("database.directory")}: with keys in the same backup as the events, no erasure takes effect`,
  );
  const journal = values["journal.directory"] ?? (external ? undefined : "./.erasures");
  const restoredWith = (path: Path, folder: string | undefined): void =>
    problemWhen(
      journal !== undefined && !has("journal.databaseUrl") && folder !== undefined && isWithin(journal, folder),
      `${n("journal.directory")} must not be inside ${n(path)}: restored together with it, it would lack the later erasures`,
    );
  if (!external) restoredWith("database.directory", dataDir);
  if (!has("keys.databaseUrl")) restoredWith("keys.directory", keyDir);
  for (const [cert, key] of [
    ["service.tls.certFile", "service.tls.keyFile"],
    ["service.admin.tls.certFile", "service.admin.tls.keyFile"],
  ] as const) {
    problemWhen(has(cert) !== has(key), `${n(cert)} and ${n(key)} go together`);
  }
  const { "service.host": host, "service.port": port } = values;
  problemWhen(
    host !== undefined &&
      !isLoopback(host) &&
      !has("service.tls.certFile") &&
      values["service.tls.terminatedByProxy"] === false,
    `${n("service.host")} is not loopback and TLS is off: set ${n("service.tls.certFile")} and ${n("service.tls.keyFile")}, or ${n("service.tls.terminatedByProxy")}=true`,
  );
  problemWhen(
    has("sessions.jwt.jwksUrl", "sessions.jwt.secret") && !(has("sessions.jwt.issuer") && has("sessions.jwt.audience")),
    `${n("sessions.jwt.issuer")} and ${n("sessions.jwt.audience")} are required with JWT verification`,
  );
  // A host that sets an option of JWT verification or of introspection wants to use it, so missing options are a
  // problem. A variable may be set for a verification that is not used, and has no effect then.
  const isOptionOf = (group: string): boolean =>
    PATHS.some((path) => path.startsWith(group) && isSet(path) && n(path) === path);
  problemWhen(
    isOptionOf("sessions.jwt.") && !has("sessions.jwt.jwksUrl", "sessions.jwt.secret"),
    "sessions.jwt.jwksUrl or sessions.jwt.secret is required with JWT verification",
  );
  problemWhen(
    isOptionOf("sessions.introspection.") && !has("sessions.introspection.url"),
    "sessions.introspection.url is required with introspection",
  );
  const algorithms = has("sessions.jwt.jwksUrl")
    ? JWT_ALGORITHMS.jwks
    : has("sessions.jwt.secret")
      ? JWT_ALGORITHMS.secret
      : [...JWT_ALGORITHMS.jwks, ...JWT_ALGORITHMS.secret];
  problemWhen(
    values["sessions.jwt.algorithms"]?.some((name) => !algorithms.includes(name)) ?? false,
    `${n("sessions.jwt.algorithms")} can't work: ${JWT_ALGORITHMS.secret.join(", ")} go with ${n("sessions.jwt.secret")}, ${JWT_ALGORITHMS.jwks.join(", ")} with ${n("sessions.jwt.jwksUrl")}`,
  );
  problemWhen(
    has("sessions.introspection.clientSecret") && !has("sessions.introspection.clientId"),
    `${n("sessions.introspection.clientSecret")} needs ${n("sessions.introspection.clientId")}`,
  );
  problemWhen(
    port !== undefined && port !== 0 && port === values["service.admin.port"] && host === values["service.admin.host"],
    `${n("service.port")} and ${n("service.admin.port")} name the same port of the same address`,
  );
  return problems;
}

const joinNames = (names: readonly string[], word = "and"): string =>
  `${names.slice(0, -1).join(", ")} ${word} ${names.at(-1)}`;

function isInside(path: string, folder: string): boolean {
  return `${path}${sep}`.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** Whether only this machine can reach the address. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
