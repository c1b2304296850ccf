/**
 * Tests of backups of an external database by pg_dump. After a restore, the journal says which events the database must
 * not contain any more.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, describe, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { expectErasureSurvivesRestore } from "../support/erase-and-restore.ts";

const run = promisify(execFile);

/** The folder in which Debian puts the programs that make and run clusters. */
async function debianPostgres(): Promise<string | undefined> {
  const versions = await readdir("/usr/lib/postgresql").catch((): string[] => []);
  return versions.length === 0 ? undefined : join("/usr/lib/postgresql", versions.toSorted().at(-1) ?? "", "bin");
}

const programs = await debianPostgres();

/** These tests use an installed PostgreSQL with its tools, from Debian's package `postgresql`. */
describe.skipIf(programs === undefined)(
  "an external database that was restored by pg_dump applies what was erased since",
  () => {
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let url: (database: string) => string;
    const env = { ...process.env, PATH: `${programs}${delimiter}${process.env["PATH"]}` };
    const asPostgres = (...command: readonly string[]): Promise<{ stdout: string }> =>
      process.getuid?.() === 0
        ? run("setpriv", ["--reuid=postgres", "--regid=postgres", "--clear-groups", ...command], { env })
        : run(command[0] ?? "", command.slice(1), { env });

    beforeAll(async () => {
      folder = await temporaryFolder();
      await chmod(folder.path, 0o777);
      const data = join(folder.path, "cluster");
      await asPostgres(`${programs}/initdb`, "-D", data, "-U", "postgres", "-A", "trust", "--no-sync");
      const settings = `-c listen_addresses= -c unix_socket_directories=${folder.path}`;
      await asPostgres(`${programs}/pg_ctl`, "-D", data, "-w", "-l", join(folder.path, "log"), "-o", settings, "start");
      url = (database) => `postgresql://postgres@localhost/${database}?host=${encodeURIComponent(folder.path)}`;
    });

    afterAll(async () => {
      await asPostgres(`${programs}/pg_ctl`, "-D", join(folder.path, "cluster"), "-m", "immediate", "stop");
      await folder.remove();
    });

    async function query(database: string, text: string): Promise<void> {
      const client = new pg.Client({ connectionString: url(database) });
      await client.connect();
      await client.query(text);
      await client.end();
    }

    test.each(["a directory", "another PostgreSQL"])(
      "with its journal in %s",
      async (where) => {
        const name = `events_${where.length}`;
        await query("postgres", `create database ${name} encoding 'UTF8' template template0`);
        await query("postgres", `create database journal_${name} encoding 'UTF8' template template0`);
        const keys = await mkdtemp(join(tmpdir(), "drs-restore-"));
        const environment = {
          DRS_DATABASE_URL: url(name),
          DRS_KEY_DIR: join(keys, "keys"),
          DRS_KEY_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
          ...(where === "a directory"
            ? { DRS_ERASURE_JOURNAL: join(keys, "journal") }
            : { DRS_ERASURE_JOURNAL_DATABASE_URL: url(`journal_${name}`) }),
        };
        await expectErasureSurvivesRestore(environment, async () => {
          const dump = join(folder.path, `${name}.dump`);
          await asPostgres("pg_dump", "-Fc", "-f", dump, url(name));
          return async () => {
            await query("postgres", `drop database ${name} with (force)`);
            await query("postgres", `create database ${name} encoding 'UTF8' template template0`);
            await asPostgres("pg_restore", "-d", url(name), dump);
          };
        });
        await rm(keys, { recursive: true });
      },
      60_000,
    );
  },
);
