/** What the commands `drs feature` do with a repository of definitions. */
export { checkFeatures, type CheckOptions, type CheckReport } from "../check/check-features.ts";
export { initProject } from "./init-project.ts";
export { listFeatures } from "./list-features.ts";
export { proposeFeatures, type Proposal } from "./propose-features.ts";
export { lockEquivalents, lockFeatures, type LockReport } from "./lock-features.ts";
