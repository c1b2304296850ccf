import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../../base/errors/operator-error.ts";
import type { Config } from "../../base/config/config.ts";
import { replaceFile, writeExclusively } from "../../base/files/durable-file.ts";
import { createUnwritableError } from "../../base/files/unwritable.ts";
import { KEY_STORE } from "./directory-key-store.ts";
import type { KeySource } from "./key-encryption.ts";
import { keysOfText } from "./keys-of-text.ts";

/**
 * Opens the key-encryption keys of this host from the environment or from a file. If neither is configured, the keys
 * are in a file in the key directory. The file is made when it is first needed. Only the embedded database, with a key
 * directory, allows this default. It is for development, because a copy of the directory contains the keys and the
 * secrets.
 * @param creates whether the file in the key directory is made if it is missing.
 * @throws key-file-unusable; Unavailable if the file can't be made
 */
export async function openLocalKeySource(keys: Config["keys"], creates = true): Promise<KeySource> {
  const { encryptionKey: current, previousEncryptionKey: previous } = keys;
  if (current) {
    const both = previous ? [previous, current] : [current];
    return {
      read: async () => both,
      description: "the environment",
      advice:
        "the key-encryption key comes from the environment: put a new one in DRS_KEY_ENCRYPTION_KEY and the present one in " +
        "DRS_PREVIOUS_KEY_ENCRYPTION_KEY, restart every server, rotate again, then take the previous one away",
    };
  }
  const source = keyFile(keys.encryptionKeyFile ?? (await defaultKeyFile(keys, creates)));
  await source.read();
  return source;
}

async function defaultKeyFile({ directory = "" }: Config["keys"], creates: boolean): Promise<string> {
  const path = join(directory, "key-encryption-key");
  if (!creates) return path;
  await writeExclusively(path, textOf([randomBytes(32)])).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw createUnwritableError(KEY_STORE, directory, error);
  });
  return path;
}

const textOf = (keys: readonly Buffer[]): Buffer =>
  Buffer.from(keys.map((key) => `${key.toString("base64")}\n`).join(""));

/** Opens a file with one key per line, oldest first. */
function keyFile(path: string): KeySource {
  return {
    async read() {
      const content = await readFile(path, "utf8").catch((cause: unknown) => {
        const { code } = cause as NodeJS.ErrnoException;
        throw new OperatorError("key-file-unusable", `the key-encryption key can't be read from ${path}: ${code}`, {
          cause,
        });
      });
      const keys = keysOfText(content);
      if ("problem" in keys)
        throw new OperatorError("key-file-unusable", `the key-encryption key in ${path} ${keys.problem}`);
      return keys.value;
    },
    async write(keys) {
      try {
        await replaceFile(path, textOf(keys));
      } catch (cause) {
        const { code } = cause as NodeJS.ErrnoException;
        throw new OperatorError(
          "key-versions-fixed",
          `${path} can't be written (${code}): change its lines by hand, the newest last`,
          {
            cause,
          },
        );
      }
    },
    description: path,
    advice: "",
  };
}
