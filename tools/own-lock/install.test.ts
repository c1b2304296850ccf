import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { installOnce } from "./install.ts";

let folder: string;
let installs: number;
const runner = {
  async install(): Promise<void> {
    installs += 1;
    rmSync(join(folder, "node_modules"), { recursive: true, force: true });
    mkdirSync(join(folder, "node_modules"));
  },
};

beforeEach(() => {
  installs = 0;
  folder = mkdtempSync(join(tmpdir(), "drs-own-lock-"));
  writeFileSync(join(folder, "package-lock.json"), "a");
});
afterEach(() => rmSync(folder, { recursive: true }));

it("installOnce installs once, and again after the lock file was changed or node_modules was deleted", async () => {
  await installOnce(folder, runner);
  await installOnce(folder, runner);
  expect(installs).toBe(1);
  writeFileSync(join(folder, "package-lock.json"), "another");
  await installOnce(folder, runner);
  expect(installs).toBe(2);
  rmSync(join(folder, "node_modules"), { recursive: true });
  await installOnce(folder, runner);
  expect(installs).toBe(3);
});

it("installOnce installs again after an installation that failed", async () => {
  const failing = { install: () => Promise.reject(new Error("no network")) };
  await expect(installOnce(folder, failing)).rejects.toThrow("no network");
  await installOnce(folder, runner);
  expect(installs).toBe(1);
});
