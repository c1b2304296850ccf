/** Finds which wing of the server imports which. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

export const SERVER = join(import.meta.dirname, "../../packages/server/src");

const IS_TEST = /\.(test|test-d|fixture|contract)\.ts$/;
const IMPORT_STATEMENT = /(?:from|import) ?\(?"(\.\.?\/[^"]+)"/g;

export interface Import {
  /** Both relative to `src`. */
  readonly file: string;
  readonly imported: string;
}

/** Source files of the server without tests, relative to `src`. */
export function sourceFiles(): readonly string[] {
  return readdirSync(SERVER, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !IS_TEST.test(file))
    .toSorted();
}

/** SQL files of the server, relative to `src`. */
export function sqlFiles(): readonly string[] {
  return readdirSync(SERVER, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".sql"));
}

/** Imports between files of the server. */
export function importsOfServer(): readonly Import[] {
  return sourceFiles().flatMap((file) =>
    [...readFileSync(join(SERVER, file), "utf8").matchAll(IMPORT_STATEMENT)].map(([, path = ""]) => ({
      file,
      imported: normalize(join(dirname(file), path)),
    })),
  );
}

/** Source files that load a package at run time. A file that imports only types of the package is not one of them. */
export function filesThatLoad(name: string): readonly string[] {
  const load = new RegExp(`^(?!import type ).*(?:from|import) ?\\(?"${name}(?:/[^"]*)?"`, "m");
  return sourceFiles().filter((file) => load.test(readFileSync(join(SERVER, file), "utf8")));
}

export const wingOf = (file: string): string => /^([^/]+)\//.exec(file)?.[1] ?? "(entries)";
