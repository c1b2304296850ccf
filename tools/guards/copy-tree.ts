import { cp, mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";

const SCOPE = "@device-risk-signals";
const FOLDERS = ["packages", "e2e", "bench", "examples", "tools", "docs"];
const FILES = ["package.json", "tsconfig.json", "vitest.config.ts"];
const NOT_COPIED = /(^|\/)(node_modules|reports|dist|build|target)$/;

/** Copies the repository's sources, and links workspace packages to the copy. */
export async function copyTree(root: string, copy: string): Promise<void> {
  for (const folder of FOLDERS) {
    await cp(join(root, folder), join(copy, folder), { recursive: true, filter: (path) => !NOT_COPIED.test(path) });
  }
  for (const file of FILES) await cp(join(root, file), join(copy, file));
  await mkdir(join(copy, "node_modules", SCOPE), { recursive: true });
  for (const name of await readdir(join(root, "node_modules"))) {
    if (name !== SCOPE) await symlink(join(root, "node_modules", name), join(copy, "node_modules", name));
  }
  for (const name of await readdir(join(copy, "packages"))) {
    await symlink(join(copy, "packages", name), join(copy, "node_modules", SCOPE, name));
  }
  await symlink(join(copy, "bench"), join(copy, "node_modules", SCOPE, "bench"));
}
