import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Bundle } from "../manifest.ts";

export const LOCK_FILE = "features.lock.json";

export interface LockedFeature {
  readonly id: string;
  readonly version: number;
  readonly hash: string;
  /**
   * Earlier hashes of this version. The server has recorded that the programs with these hashes give the same values as
   * the current one.
   */
  readonly equivalent?: readonly string[];
}

type Feature = Pick<Bundle, "id" | "version" | "hash">;

const nameOf = ({ id, version }: Pick<Feature, "id" | "version">): string => `${id}@${version}`;

export type LockFileResult =
  | { readonly ok: true; readonly locked: readonly LockedFeature[] }
  | { readonly ok: false; readonly problem: string };

export function readLockFile(file: string): LockFileResult {
  const name = basename(file);
  if (!existsSync(file)) return { ok: false, problem: `no ${name}: run \`drs feature lock\`` };
  try {
    const { features } = JSON.parse(readFileSync(file, "utf8")) as { readonly features?: unknown };
    if (Array.isArray(features)) return { ok: true, locked: features as LockedFeature[] };
  } catch {
    // A file that is not JSON gets the same message as a file without the array.
  }
  return { ok: false, problem: `${name} has no array \`features\`` };
}

/**
 * @returns the locked entries, unchanged, and an entry for each version that is not locked yet, sorted by id and
 * version
 */
export function withNewVersions(
  locked: readonly LockedFeature[],
  features: readonly Feature[],
): readonly LockedFeature[] {
  const entries = new Map([...features, ...locked].map((feature) => [nameOf(feature), feature]));
  return [...entries.values()].sort((one, other) =>
    one.id === other.id ? one.version - other.version : one.id < other.id ? -1 : 1,
  );
}

/**
 * Gives each entry the hash of the feature with its id and version, and keeps the earlier hash in `equivalent`.
 *
 * @param features features whose programs are equivalent to the locked ones
 */
export function withEquivalents(
  locked: readonly LockedFeature[],
  features: readonly Feature[],
): readonly LockedFeature[] {
  const hashes = new Map(features.map((feature) => [nameOf(feature), feature.hash]));
  return locked.map((entry) => {
    const hash = hashes.get(nameOf(entry)) ?? entry.hash;
    return hash === entry.hash ? entry : { ...entry, hash, equivalent: [...(entry.equivalent ?? []), entry.hash] };
  });
}

export function lockText(entries: readonly LockedFeature[]): string {
  const features = entries.map(({ id, version, hash, equivalent }) => ({ id, version, hash, equivalent }));
  return `${JSON.stringify({ features }, undefined, 2)}\n`;
}

/**
 * Compares definitions with the lock file, and the lock file with an earlier one.
 *
 * A version keeps its hash, unless the server has recorded that another program is equivalent. If a definition is
 * removed from the folder, its entries stay in the lock file, because stored values refer to them.
 *
 * @param base an earlier lock file, such as the one of the target branch
 * @returns what is wrong; empty if nothing is.
 */
export function lockProblems(
  locked: readonly LockedFeature[],
  features: readonly Feature[],
  base: readonly LockedFeature[] = [],
): readonly string[] {
  const entriesByName = new Map(locked.map((entry) => [nameOf(entry), entry]));
  const twice = locked.filter((entry, at) => locked.findIndex((other) => nameOf(other) === nameOf(entry)) !== at);
  return [
    ...twice.map((entry) => `${LOCK_FILE} has ${nameOf(entry)} twice`),
    ...base.flatMap((entry) => baseProblem(entry, entriesByName.get(nameOf(entry)))),
    ...features.flatMap((feature) => featureProblem(feature, entriesByName.get(nameOf(feature))?.hash, locked)),
  ];
}

/**
 * Compares definitions with the lock file of their folder.
 * @param base the path of an earlier lock file.
 * @returns what is wrong; empty if nothing is.
 */
export function lockFileProblems(folder: string, features: readonly Feature[], base?: string): readonly string[] {
  const lockFile = readLockFile(join(folder, LOCK_FILE));
  const earlier = base === undefined ? undefined : readLockFile(base);
  if (!lockFile.ok) return [lockFile.problem];
  if (earlier && !earlier.ok) return [earlier.problem];
  return lockProblems(lockFile.locked, features, earlier?.locked);
}

function baseProblem(entry: LockedFeature, own: LockedFeature | undefined): string[] {
  if (own === undefined) return [`${LOCK_FILE} has no entry ${nameOf(entry)} any more: restore the entry`];
  return own.hash === entry.hash || own.equivalent?.includes(entry.hash)
    ? []
    : [`${LOCK_FILE} had another hash of ${nameOf(entry)}: give the feature a new version`];
}

function featureProblem(feature: Feature, hash: string | undefined, locked: readonly LockedFeature[]): string[] {
  const versions = locked.filter(({ id }) => id === feature.id).map(({ version }) => version);
  const nextVersion = Math.max(0, ...versions) + 1;
  if (hash === undefined) {
    return [`${nameOf(feature)} is not in ${LOCK_FILE}: run \`drs feature lock\``];
  }
  return hash === feature.hash
    ? []
    : [`the code of ${nameOf(feature)} differs from ${LOCK_FILE}: give the feature version ${nextVersion}`];
}
