import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { OperatorError } from "../base/errors/operator-error.ts";
import type { Context } from "./context.ts";

/** Writes an HTML page to a file that the user named. @throws OperatorError output-failed */
export async function writePage({ directory }: Context, file: string, page: string): Promise<void> {
  const path = resolve(directory, file);
  await writeFile(path, page).catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError("output-failed", `${path} can't be written (${error.code})`);
  });
}
