import { readdirSync, statSync } from "node:fs";

const TARBALL_NAME = /^device-risk-signals-[a-z-]+-\d+\.\d+\.\d+\S*\.tgz$/;

/**
 * The reason why a folder is rejected. `undefined` if it does not exist, is empty, or contains only earlier tarballs.
 */
export function destinationProblem(folder: string): string | undefined {
  const status = statSync(folder, { throwIfNoEntry: false });
  if (!status) return undefined;
  if (!status.isDirectory()) return `${folder} is not a folder`;
  const other = readdirSync(folder, { withFileTypes: true }).find(
    (entry) => !entry.isFile() || !TARBALL_NAME.test(entry.name),
  );
  return other && `${folder} holds "${other.name}"; name a folder that is new, empty, or holds earlier tarballs only`;
}
