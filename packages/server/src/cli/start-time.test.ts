import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const DRS = join(import.meta.dirname, "../../bin/drs.js");

/** Prints the files of the modules that a process has loaded, when it ends. */
const HOOK = `data:text/javascript,
import { registerHooks } from "node:module";
const urls = [];
registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
process.on("exit", () => console.error(urls.join("\\n")));`;

/** The files that a command loads, relative to `packages/server/src` where they are there. */
async function loadedBy(...args: readonly string[]): Promise<readonly string[]> {
  const { stderr } = await promisify(execFile)(process.execPath, ["--import", HOOK, DRS, ...args]);
  return stderr.split("\n").map((url) => url.replace(/^.*packages\/server\/src\//, ""));
}

it("drs --help loads no command", async () => {
  const loaded = await loadedBy("--help");
  expect(loaded).toContain("cli/program.ts");
  expect(loaded).not.toContain("cli/call.ts");
  expect(loaded.filter((url) => /typebox|node_modules\/(?:pg|pino|jose)\//.test(url))).toEqual([]);
});

it.each(["status", "hold", "event", "audit", "erase", "export", "feature", "receipt", "serve"])(
  "the help of %s loads neither the database's driver nor the operations",
  async (name) => {
    const loaded = await loadedBy(name, "--help");
    expect(loaded).toContain(`cli/${name}.ts`);
    expect(loaded.filter((url) => /^operations\/operations|^runtime\/connect|node_modules\/pg\//.test(url))).toEqual(
      [],
    );
  },
);
