import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { collectExport } from "./collect-export.ts";

type Parts = Parameters<typeof collectExport>[0];
type Part = Parts extends AsyncIterable<infer One> ? One : never;

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const manifestOf = (files: Readonly<Record<string, string>>): Part => ({
  manifest: {
    export_id: "e",
    account: "a",
    exported_at: "2026-11-29T08:00:00Z",
    refused: false,
    files: Object.entries(files).map(([name, text]) => ({ name, rows: 1, bytes: text.length, sha256: sha256(text) })),
  },
});

async function* inOrder(...parts: readonly Part[]): AsyncGenerator<Part> {
  yield* parts;
}

const collect = (leftOut: readonly string[], ...parts: readonly Part[]) =>
  collectExport(inOrder(...parts), leftOut, () => {});

describe("an export", () => {
  test("appends the parts of a file, keeps exact bytes, and has the letter apart", async () => {
    const event = "events/00000000-0000-7000-8000-000000000000.json";
    const files = { "events.ndjson": "1\n2\n", [event]: '{"a":1.0}', "letter.txt": "Dear", "accesses.ndjson": "" };
    const {
      zip,
      letter,
      files: count,
    } = await collect(
      ["accesses.ndjson"],
      { file: "events.ndjson", text: "1\n" },
      { file: event, base64: btoa('{"a":1.0}') },
      { file: "events.ndjson", text: "2\n" },
      { file: "letter.txt", text: "Dear" },
      manifestOf(files),
    );
    const text = await zip.text();
    expect(count).toBe(3);
    expect(text).toContain("1\n2\n");
    expect(text).toContain('{"a":1.0}');
    expect(text).not.toContain("Dear");
    expect(await letter?.text()).toBe("Dear");
  });

  test("that ends before its manifest is refused", async () => {
    await expect(collect([], { file: "events.ndjson", text: "1\n" })).rejects.toThrow(/ended before its end/);
  });

  test("whose file differs from the manifest, or is missing, is refused", async () => {
    const manifest = manifestOf({ "events.ndjson": "1\n" });
    await expect(collect([], { file: "events.ndjson", text: "2\n" }, manifest)).rejects.toThrow(/differs/);
    await expect(collect([], manifest)).rejects.toThrow(/differs/);
  });

  test.each([
    "../x.txt",
    "/etc/x.txt",
    "a/../b.txt",
    "events//x.json",
    "C:\\x.txt",
    "x.exe",
    "__proto__",
    "e\u0000.txt",
  ])("that names the file %j is refused", async (file) => {
    await expect(collect([], { file, text: "x" }, manifestOf({ [file]: "x" }))).rejects.toThrow(/can't have/);
  });
});
