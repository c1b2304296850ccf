import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const pack = (...flags: string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, "pack.ts"), ...flags], { encoding: "utf8" });

describe("npm run pack", () => {
  it("rejects a release until the project's file says where it is published", () => {
    expect(pack("--release")).toMatchObject({
      status: 1,
      stderr: "pack: a release needs repository, homepage, bugs, author: fill them in in tools/release/project.json.\n",
    });
  });

  it("rejects the name of a package that does not exist", () => {
    const { status, stderr } = pack("--package", "servr");
    expect(status).toBe(1);
    expect(stderr).toContain('there is no package "servr": name contract, ');
  });
});
