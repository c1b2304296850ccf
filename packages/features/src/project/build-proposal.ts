import type { ProposedBundle } from "../check/archived.ts";
import { readFixtureFile } from "../check/fixtures.ts";
import { lockFileProblems } from "../compile/lock.ts";
import { buildFolder } from "./build-folder.ts";

export interface Proposal {
  readonly bundles: readonly ProposedBundle[];
  readonly problems: readonly string[];
}

/**
 * Builds the definitions below a folder, each with the content of its fixtures.
 * @param isLocked whether the programs must have the hashes of the folder's lock file.
 */
export async function buildProposal(folder: string, { isLocked }: { readonly isLocked: boolean }): Promise<Proposal> {
  const { features, problems } = await buildFolder(folder);
  const bundles = features.map(({ bundle, fixtures }) => ({ ...bundle, fixtures: readFixtureFile(fixtures) }));
  // guard(false): a version is proposed only with the code that the reviewers of the folder saw
  return { bundles, problems: [...problems, ...(isLocked ? lockFileProblems(folder, bundles) : [])] };
}
