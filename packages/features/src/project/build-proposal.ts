import type { ProposedBundle } from "../check/archived.ts";
import { readFixtureFile } from "../check/fixtures.ts";
import { buildFolder } from "./build-folder.ts";

export interface Proposal {
  readonly bundles: readonly ProposedBundle[];
  readonly problems: readonly string[];
}

/** Builds the definitions below a folder, each with the content of its fixtures. */
export async function buildProposal(folder: string): Promise<Proposal> {
  const { features, problems } = await buildFolder(folder);
  const bundles = features.map(({ bundle, fixtures }) => ({ ...bundle, fixtures: readFixtureFile(fixtures) }));
  return { bundles, problems };
}
