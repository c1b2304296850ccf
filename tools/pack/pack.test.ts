import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "drs-pack-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const PACK = join(import.meta.dirname, "pack.ts");

const pack = (out: string) => spawnSync(process.execPath, [PACK, "--out", out], { encoding: "utf8" });

describe("npm run pack", () => {
  it("rejects the packages folder of a monorepo, and deletes no file in it", () => {
    const file = join(folder, "server/index.ts");
    mkdirSync(join(folder, "server"));
    writeFileSync(file, "export {};");
    const { status, stderr, stdout } = pack(folder);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toContain(`${folder} holds "server"; name a folder that is new, empty`);
    expect(readFileSync(file, "utf8")).toBe("export {};");
  });

  it("rejects a folder whose name is that of a tarball, and a file with the name of the folder", () => {
    mkdirSync(join(folder, "device-risk-signals-server-0.1.0.tgz"));
    expect(pack(folder)).toMatchObject({ status: 1 });
    writeFileSync(join(folder, "file"), "");
    expect(pack(join(folder, "file")).stderr).toContain("is not a folder");
  });

  it("rejects a release until the project's file says where it is published", () => {
    const { status, stderr } = spawnSync(process.execPath, [PACK, "--out", folder, "--release"], { encoding: "utf8" });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: "pack: a release needs repository, homepage, bugs, author: fill them in in tools/release/project.json.\n",
    });
  });

  it("rejects the name of a package that does not exist", () => {
    const flags = ["--out", folder, "--package", "servr"];
    const { status, stderr } = spawnSync(process.execPath, [PACK, ...flags], { encoding: "utf8" });
    expect(status).toBe(1);
    expect(stderr).toContain('there is no package "servr": name contract, ');
  });
});
