/**
 * Stops a program on a Node that is too old, with a sentence. `index.ts` imports this module before all others. Modules
 * that import from a newer part of Node take its default export, because a missing name is an error before any module
 * runs.
 */

/** `engines` of the manifest and the check of `bin/drs.js` name the same version. */
export const OLDEST_NODE = "24.6";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE.split(".").map(Number);
if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
  throw new Error(
    `@device-risk-signals/server needs Node ${OLDEST_NODE} or later; this is ${process.version} (${process.execPath}).`,
  );
}
