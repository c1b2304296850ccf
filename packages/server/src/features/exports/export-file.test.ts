import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import { withNewFile, writeExport } from "./export-file.ts";
import type { ExportPart } from "./export-parts.ts";

const folder = useFolder();
const names = async (): Promise<readonly string[]> => (await readdir(folder())).toSorted();

describe("the file of an export", () => {
  it("has its name only when it is complete", async () => {
    const path = join(folder(), "whole");
    const before = await withNewFile(path, async (sink) => {
      await sink.append(Buffer.from("ab"));
      await sink.finish();
      return names();
    });
    expect(before).toEqual(["whole.partial"]);
    expect(await readFile(path, "utf8")).toBe("ab");
    expect(await names()).toEqual(["whole"]);
  });

  it("is deleted if the work fails, and replaces no file that was made in the meantime", async () => {
    const path = join(folder(), "other");
    const failing = withNewFile(path, async () => {
      throw new Error("a test");
    });
    await expect(failing).rejects.toThrow("a test");
    const late = withNewFile(path, () => writeFile(path, "mine"));
    await expect(late).rejects.toMatchObject({ code: "output-failed" });
    expect(await names()).toEqual(["other", "whole"]);
    expect(await readFile(path, "utf8")).toBe("mine");
  });

  it("is not written over a part that a killed process has left", async () => {
    const path = join(folder(), "left");
    await writeFile(`${path}.partial`, "a");
    const writing = withNewFile(path, async () => {});
    await expect(writing).rejects.toThrow("left.partial is from another export");
    expect(await readFile(`${path}.partial`, "utf8")).toBe("a");
  });

  it("is deleted if it ends before its manifest, or differs from it", async () => {
    const bytes = { bytes: Buffer.from("ab") };
    const other = { manifest: { file: { sha256: "of other bytes" } } } as ExportPart;
    for (const given of [[bytes], [bytes, other]]) {
      const parts = (async function* (): AsyncGenerator<ExportPart> {
        yield* given;
      })();
      await expect(writeExport(join(folder(), "cut"), parts)).rejects.toThrow("it is not whole");
    }
    expect((await names()).filter((name) => name.startsWith("cut"))).toEqual([]);
  });
});
