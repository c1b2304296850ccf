/** What the commands `drs feature` do with a repository of definitions. */
export { checkFeatures, type CheckOptions, type CheckReport } from "../check/check-features.ts";
export { initProject } from "./init-project.ts";
export { buildFolder } from "./build-folder.ts";
export { buildProposal, type Proposal } from "./build-proposal.ts";
export { lockEquivalents, lockFeatures, type LockReport } from "./lock-features.ts";
