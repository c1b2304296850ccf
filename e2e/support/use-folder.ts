import { afterAll, beforeAll } from "vitest";
import { temporaryFolder } from "./temporary-folder.ts";

/** @returns a function that returns the path of a folder, which the hooks of a test file make and delete. */
export function useFolder(): () => string {
  let folder: Awaited<ReturnType<typeof temporaryFolder>> | undefined;
  beforeAll(async () => {
    folder = await temporaryFolder();
  });
  afterAll(() => folder?.remove());
  return () => {
    if (folder === undefined) throw new Error("a hook makes the folder");
    return folder.path;
  };
}
