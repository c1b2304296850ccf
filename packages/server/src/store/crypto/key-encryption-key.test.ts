import { randomBytes } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../../../e2e/support/temporary-folder.ts";
import { readConfig } from "../../base/config/config.ts";
import { openLocalKeySource } from "./key-encryption-key.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeEach(async () => {
  folder = await temporaryFolder();
});

afterEach(() => folder.remove());

async function load(environment: Record<string, string>): Promise<readonly Buffer[]> {
  const result = readConfig(environment, folder.path);
  if (!result.ok) throw new Error(result.problems.join("\n"));
  return (await openLocalKeySource(result.config.keys)).read();
}

describe("the key-encryption key", () => {
  const key = randomBytes(32);

  it("comes from the environment", async () => {
    expect(await load({ DRS_KEY_ENCRYPTION_KEY: key.toString("base64") })).toEqual([key]);
  });

  it.each(["\n", "\r\n", "  \n", ""])("comes from a file that ends in %j", async (end) => {
    const path = join(folder.path, "key");
    await writeFile(path, key.toString("base64") + end);
    expect(await load({ DRS_KEY_ENCRYPTION_KEY_FILE: path })).toEqual([key]);
  });

  it("of the embedded default is made once, only its owner can read it, and all processes that start at once get the same one", async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => load({})));
    expect(new Set(keys.map(String)).size).toBe(1);
    expect(keys[0]?.[0]).toHaveLength(32);
    expect(await load({})).toEqual(keys[0]);
    expect((await stat(join(folder.path, ".keys", "key-encryption-key"))).mode & 0o777).toBe(0o600);
  });

  it("may have a previous key, from the environment or from the previous line of the file", async () => {
    const before = randomBytes(32);
    const [first, second] = [before.toString("base64"), key.toString("base64")];
    expect(await load({ DRS_PREVIOUS_KEY_ENCRYPTION_KEY: first, DRS_KEY_ENCRYPTION_KEY: second })).toEqual([
      before,
      key,
    ]);
    const path = join(folder.path, "keys");
    await writeFile(path, `${first}\n${second}\n`);
    expect(await load({ DRS_KEY_ENCRYPTION_KEY_FILE: path })).toEqual([before, key]);
  });

  it("is not generated if the configuration names a key file", async () => {
    const path = join(folder.path, "absent");
    await expect(load({ DRS_KEY_ENCRYPTION_KEY_FILE: path })).rejects.toThrow(`can't be read from ${path}: ENOENT`);
    await expect(stat(path)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it.each(["", "short", randomBytes(31).toString("base64"), randomBytes(33).toString("base64"), key.toString("hex")])(
    "is rejected, without being shown, if its file contains something else: %j",
    async (content) => {
      const path = join(folder.path, "key");
      await writeFile(path, content);
      const error = await load({ DRS_KEY_ENCRYPTION_KEY_FILE: path }).catch((caught: unknown) => String(caught));
      expect(error).toContain(path);
      expect(error).toContain("32 bytes in base64");
      if (content !== "") expect(error).not.toContain(content);
    },
  );

  it("of the embedded default is rejected if the file is damaged, and the file stays for the operator", async () => {
    await load({});
    const path = join(folder.path, ".keys", "key-encryption-key");
    await writeFile(path, "spoilt");
    await expect(load({})).rejects.toThrow(path);
    expect(await readFile(path, "utf8")).toBe("spoilt");
  });
});
