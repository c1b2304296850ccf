import { writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { useFolder } from "../../../../e2e/support/use-folder.ts";
import { readSurfaceKeys } from "./surface-key-file.ts";

const folder = useFolder();
const keyOf = (fill: number): string => Buffer.alloc(32, fill).toString("base64");

async function read(text: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const path = `${folder()}/keys`;
  await writeFile(path, text);
  const ring = await readSurfaceKeys(path);
  return Object.fromEntries(
    Object.entries(ring).map(([surface, keys]) => [surface, keys.map((key) => key.export().toString("base64"))]),
  );
}

it("a file of MAC keys has lines of a surface and a key, oldest first", async () => {
  const lines = [`ingest ${keyOf(1)}`, `admin  ${keyOf(2)}`, `ingest ${keyOf(3)}`];
  expect(await read(lines.join("\n"))).toEqual({ ingest: [keyOf(1), keyOf(3)], admin: [keyOf(2)] });
});

it.each(["", "ingest", keyOf(1), `another ${keyOf(1)}`, `ingest ${keyOf(1)}x`, `ingest ${keyOf(1).slice(0, 20)}`])(
  "a file of MAC keys has no line %j, and the error quotes nothing of it",
  async (line) => {
    const reading = read(`worker ${keyOf(1)}\n${line}\ndirect ${keyOf(2)}`);
    await expect(reading).rejects.toMatchObject({ code: "key-file-unusable" });
    await expect(reading).rejects.toThrow(/^the MAC keys of the audit in \S+ are not lines/);
  },
);

it("a file of MAC keys that is missing is an error with its path", async () => {
  await expect(readSurfaceKeys("/nowhere/keys")).rejects.toThrow("can't be read from /nowhere/keys: ENOENT");
});
