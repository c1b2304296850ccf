import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { key256 } from "../config/values.ts";
import { writeExclusively } from "./directory-key-store.ts";

/**
 * The key that wraps all others: from the environment, from a file, or, for the embedded default alone, from a file
 * beside the keys that is made at first need (development: whoever copies the key directory has both).
 * @throws Error with a message for people.
 */
export async function loadKeyEncryptionKey(config: Config): Promise<Buffer> {
  if (config.DRS_KEY_ENCRYPTION_KEY) return config.DRS_KEY_ENCRYPTION_KEY;
  const named = config.DRS_KEY_ENCRYPTION_KEY_FILE;
  if (named !== undefined) return readKeyFile(named);
  const path = join(config.DRS_KEY_DIR ?? "", "key-encryption-key");
  await writeExclusively(path, Buffer.from(`${randomBytes(32).toString("base64")}\n`)).catch((fault: unknown) => {
    if ((fault as NodeJS.ErrnoException).code !== "EEXIST") throw fault;
  });
  return readKeyFile(path);
}

async function readKeyFile(path: string): Promise<Buffer> {
  const content = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new Error(`the key-encryption key can't be read from ${path}: ${(cause as NodeJS.ErrnoException).code}`, {
      cause,
    });
  });
  const result = key256(content.trim());
  if ("problem" in result) throw new Error(`the key-encryption key in ${path} ${result.problem}`);
  return result.value;
}
