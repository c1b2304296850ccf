import { type Config, valueAt } from "./config.ts";
import { readDatabaseUrl } from "./database-url.ts";
import { isLoopback, KEY_SOURCES } from "./rules.ts";
import { type Path, settingOf } from "./settings.ts";

/** A setting that works but should be changed. */
export interface Warning {
  /** A setting with `advice` is fine for development. A setting with a `warning` is unfit for production. */
  readonly severity: "advice" | "warning";
  /** The warning, in one line for messages; it quotes no value of a variable. */
  readonly detail: string;
}

const DATABASE_URL_SETTINGS = [
  "database.url",
  "database.migrationUrl",
  "service.admin.database.url",
  "keys.databaseUrl",
  "journal.databaseUrl",
] as const satisfies readonly Path[];

/** The path of a setting with the URL of a database. */
export type DatabasePath = (typeof DATABASE_URL_SETTINGS)[number];

/** Finds the warnings of a valid configuration. */
export function warningsOf(config: Config): readonly Warning[] {
  const warnings: Warning[] = [];
  const warnWhen = (condition: boolean, detail: string, severity: Warning["severity"] = "warning"): void => {
    if (condition) warnings.push({ severity, detail });
  };
  const { journal } = config;
  warnWhen(
    journal.directory === undefined && journal.databaseUrl === undefined,
    "there is no erasure journal, so no erasure is possible. Name one in DRS_ERASURE_JOURNAL",
  );
  warnWhen(
    config.embedded && KEY_SOURCES.every((path) => valueAt(config, path) === undefined),
    "the key-encryption key is stored next to the secrets it wraps: fine for development, not for production",
    "advice",
  );
  for (const path of DATABASE_URL_SETTINGS) {
    const url = valueAt(config, path);
    warnWhen(
      url !== undefined && isUnencrypted(url),
      `${settingOf(path).variable} connects to another host without TLS: add sslmode=verify-full to it`,
    );
  }
  warnWhen(
    !isLoopback(config.service.admin.host) && config.service.admin.tls.certFile === undefined,
    "DRS_ADMIN_HOST is not loopback and DRS_ADMIN_TLS_CERT_FILE is not set: the admin listener answers health and metrics in the clear, and not the admin API",
  );
  return warnings;
}

/** Whether a connection uses neither TLS, nor a local socket, nor loopback. */
function isUnencrypted(url: string): boolean {
  const read = readDatabaseUrl(url);
  if ("problem" in read) return false;
  const { host, tls } = read.value;
  return !tls && !host.startsWith("/") && !isLoopback(host);
}
