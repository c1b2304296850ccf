import { getSystemErrorMessage } from "node:util";
import { Unavailable } from "../ports.ts";
import { makeFolder, tryWrite } from "./durable-file.ts";

/** Says in words what the system answered, such as `no space left on device`. */
export function describeSystemError({ errno, code, message }: NodeJS.ErrnoException): string {
  return errno === undefined ? (code ?? message) : getSystemErrorMessage(errno);
}

/** Makes the folder of a store if it is missing, and tries a write to it. @throws Unavailable */
export async function requireWritableFolder(store: string, folder: string): Promise<void> {
  try {
    await makeFolder(folder);
    await tryWrite(folder);
  } catch (error) {
    throw createUnwritableError(store, folder, error);
  }
}

/**
 * The error for a folder that can't be written. Readiness shows it, so it names the folder and what the system answered.
 * @param store what is in the folder, such as `the key store`.
 */
export function createUnwritableError(store: string, folder: string, cause: unknown): Unavailable {
  const error = cause as NodeJS.ErrnoException;
  const problem =
    error.code === "EROFS" ? `is read-only: ${folder}` : `is not writable: ${folder} (${describeSystemError(error)})`;
  return new Unavailable(`${store} ${problem}`, { code: "dependency-unusable", detail: { problem }, cause });
}
