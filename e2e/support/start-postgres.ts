/** Starts a PostgreSQL for tests: the embedded one, or the one that `TEST_POSTGRES_BIN` names. */
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import type { Binaries } from "../../packages/server/src/runtime/embedded-postgres/binaries.ts";
import { EmbeddedPostgres } from "../../packages/server/src/runtime/embedded-postgres/embedded-postgres.ts";

export function startPostgres(dataDir: string): Promise<EmbeddedPostgres> {
  const folder = process.env["TEST_POSTGRES_BIN"];
  const binaries = folder === undefined ? {} : { binaries: binariesIn(folder) };
  return EmbeddedPostgres.open({ dataDir, asServer: false, onError: () => {}, ...binaries });
}

/** @param folder the `bin` folder of an installed PostgreSQL, such as `/usr/lib/postgresql/15/bin`. */
export function binariesIn(folder: string): Binaries {
  const postgres = join(folder, "postgres");
  const version = execFileSync(postgres, ["--version"], { encoding: "utf8" });
  const major = /\(PostgreSQL\) (\d+)/.exec(version)?.[1];
  if (major === undefined) throw new Error(`TEST_POSTGRES_BIN: ${postgres} does not state its version`);
  return { home: dirname(folder), major, initdb: join(folder, "initdb"), postgres };
}
