import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Zip } from "./zip.ts";

const READ = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as file:
    assert file.testzip() is None
    for entry in file.infolist():
        print(entry.filename, entry.date_time, file.read(entry).hex())
`;

function hasPython(): boolean {
  try {
    execFileSync("python3", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("a ZIP file", () => {
  test.skipIf(!hasPython())("is read by another program (skipped without python3)", async () => {
    const folder = mkdtempSync(join(tmpdir(), "drs-zip-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const zip = new Zip(new Date("2026-11-29T08:09:26Z"));
    zip.add({ name: "index.html", content: new TextEncoder().encode("<p>ü</p>") });
    zip.add({ name: "events/ä.json", content: new Uint8Array([0, 255, 10]) });
    zip.add({ name: "empty", content: new Uint8Array() });
    const path = join(folder, "export.zip");
    writeFileSync(path, new Uint8Array(await zip.finish().arrayBuffer()));
    expect(readFileSync(path).subarray(0, 4).toString("latin1")).toBe("PK\u0003\u0004");
    const read = execFileSync("python3", ["-c", READ, path], { encoding: "utf8", env: { PYTHONIOENCODING: "utf-8" } });
    const at = "(2026, 11, 29, 8, 9, 26)";
    const content = Buffer.from("<p>ü</p>").toString("hex");
    expect(read.trimEnd().split("\n")).toEqual([
      `index.html ${at} ${content}`,
      `events/ä.json ${at} 00ff0a`,
      `empty ${at}`,
    ]);
  });
});
