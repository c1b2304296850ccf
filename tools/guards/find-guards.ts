import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Marker, MarkerInvalid, readMarkers } from "./marker.ts";

export const ROOT = join(import.meta.dirname, "../..");
const SOURCES = ["packages"];
const IS_SOURCE = /(?<!\.test|\.fixture|\.contract)\.(ts|sql)$/;

/** A marker, and the file that contains it. */
export interface Guard extends Marker {
  readonly path: string;
}

/**
 * Finds the guards of all sources.
 *
 * @param only a text that the path, the rule, the test file or the test title of a guard must contain
 * @throws MarkerInvalid
 */
export async function findGuards(only = ""): Promise<readonly Guard[]> {
  const guards: Guard[] = [];
  for (const folder of SOURCES) {
    for (const name of (await readdir(join(ROOT, folder), { recursive: true })).toSorted()) {
      const path = join(folder, name);
      if (!IS_SOURCE.test(path) || path.includes("node_modules")) continue;
      const text = await readFile(join(ROOT, path), "utf8");
      guards.push(...readFileMarkers(path, text).map((marker) => ({ ...marker, path })));
    }
  }
  return guards.filter(({ path, rule, test }) => `${path} ${rule} ${test.file} ${test.name}`.includes(only));
}

function readFileMarkers(path: string, text: string): readonly Marker[] {
  try {
    return readMarkers(text);
  } catch (cause) {
    throw cause instanceof MarkerInvalid ? new MarkerInvalid(`${path}, ${cause.message}`, { cause }) : cause;
  }
}
