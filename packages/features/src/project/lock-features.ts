import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildFeatures } from "../compile/build-features.ts";
import { LOCK_FILE, lockProblems, lockText, readLockFile, withEquivalents, withNewVersions } from "../compile/lock.ts";
import type { Bundle } from "../manifest.ts";
import { OVERLAY_TYPES, overlayTypes, readOverlay } from "../compile/overlay.ts";

export interface LockReport {
  readonly features: number;
  /** Empty if the lock file was written. */
  readonly problems: readonly string[];
}

/**
 * Writes the lock file of a folder of definitions, and the types of its overlay. Adds an entry for each new version,
 * and never changes an entry. If the code of a definition changed and its version did not, the function reports a
 * problem and leaves the lock file as it is.
 */
export async function lockFeatures(folder: string): Promise<LockReport> {
  const read = readOverlay(folder);
  if (!read.ok) return { features: 0, problems: read.problems };
  if (read.overlay.fields.length > 0) writeFileSync(join(folder, OVERLAY_TYPES), overlayTypes(read.overlay));
  const { features, problems } = await buildFeatures(folder, read.overlay);
  const bundles = features.map(({ bundle }) => bundle);
  const file = join(folder, LOCK_FILE);
  const lockFile = readLockFile(file);
  if (!lockFile.ok && existsSync(file)) return { features: bundles.length, problems: [...problems, lockFile.problem] };
  const entries = withNewVersions(lockFile.ok ? lockFile.locked : [], bundles);
  const allProblems = [...problems, ...lockProblems(entries, bundles)];
  if (allProblems.length === 0) writeFileSync(file, lockText(entries));
  return { features: features.length, problems: allProblems };
}

/**
 * Writes the hashes of `bundles` into the lock file. Their programs are equivalent to the locked ones.
 *
 * @returns what is wrong; empty if the lock file was written.
 */
export function lockEquivalents(
  folder: string,
  bundles: readonly Pick<Bundle, "id" | "version" | "hash">[],
): readonly string[] {
  const file = join(folder, LOCK_FILE);
  const lockFile = readLockFile(file);
  if (!lockFile.ok) return [lockFile.problem];
  writeFileSync(file, lockText(withEquivalents(lockFile.locked, bundles)));
  return [];
}
