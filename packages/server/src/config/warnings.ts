import pg from "pg";
import { type Config, isLoopback } from "./config.ts";
import type { VariableName } from "./variables.ts";

/** A setting that works and should be changed. */
export interface Warning {
  /** `advice` is fine for development; a `warning` is not for production. */
  readonly severity: "advice" | "warning";
  /** A line for people; it quotes no value of a variable. */
  readonly detail: string;
}

const DATABASES = [
  "DRS_DATABASE_URL",
  "DRS_MIGRATION_DATABASE_URL",
  "DRS_KEY_DATABASE_URL",
  "DRS_ERASURE_JOURNAL_DATABASE_URL",
] as const satisfies readonly VariableName[];

/** Of a valid configuration. */
export function warningsOf(config: Config): readonly Warning[] {
  const warnings: Warning[] = [];
  const warnWhen = (condition: boolean, detail: string, severity: Warning["severity"] = "warning"): void => {
    if (condition) warnings.push({ severity, detail });
  };
  const { DRS_DATABASE_URL: events, DRS_KEY_DATABASE_URL: keys } = config;
  warnWhen(
    events !== undefined && keys !== undefined && new URL(events).host === new URL(keys).host,
    "DRS_KEY_DATABASE_URL names the cluster of the events: with both in one backup, no erasure takes effect",
  );
  warnWhen(
    !config.DRS_ERASURE_JOURNAL && !config.DRS_ERASURE_JOURNAL_DATABASE_URL,
    "there is no erasure journal, so no erasure is possible. Name one in DRS_ERASURE_JOURNAL",
  );
  warnWhen(
    config.embedded && !config.DRS_KEY_ENCRYPTION_KEY && config.DRS_KEY_ENCRYPTION_KEY_FILE === undefined,
    "the key-encryption key is stored next to the secrets it wraps: fine for development, not for production",
    "advice",
  );
  for (const name of DATABASES) {
    const url = config[name];
    warnWhen(
      url !== undefined && isUnencrypted(url),
      `${name} connects to another host without TLS: add sslmode=verify-full to it`,
    );
  }
  warnWhen(
    !isLoopback(config.DRS_ADMIN_HOST),
    "DRS_ADMIN_HOST is not loopback, and the admin listener speaks plain HTTP without credentials: make it reachable only for monitoring",
  );
  return warnings;
}

/** As `pg` reads the URL, its defaults and its environment: neither TLS, nor a socket, nor loopback. */
function isUnencrypted(connectionString: string): boolean {
  try {
    const { host, ssl } = new pg.Client({ connectionString });
    return !ssl && !host.startsWith("/") && !isLoopback(host.replace(/^\[(.*)\]$/, "$1"));
  } catch {
    // It names a certificate that can't be read: that is TLS, and connecting says what is wrong.
    return false;
  }
}
