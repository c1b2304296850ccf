import { createSecretKey } from "node:crypto";
import { readFile } from "node:fs/promises";
import { keysOfText } from "../store/crypto/keys-of-text.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { SURFACES } from "../store/audit-record/record.ts";
import type { KeyRing } from "../store/audit-record/surfaces.ts";

/**
 * Reads lines with a surface and a key of 32 bytes in base64. If a surface has several keys, the last one signs. The
 * file of a process should have only the lines of the surfaces that the process serves.
 * @throws key-file-unusable
 */
export async function readSurfaceKeys(path: string): Promise<KeyRing> {
  const content = await readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw unusable(`can't be read from ${path}: ${cause.code}`, cause);
  });
  const keys = content
    .trim()
    .split("\n")
    .map((line) => {
      const [, surface, text = ""] = /^(\w+) +(\S+)$/.exec(line.trim()) ?? [];
      const found = SURFACES.find((name) => name === surface);
      const read = keysOfText(text);
      if (!found || "problem" in read) throw unusable(`in ${path} are not lines of a surface and 32 bytes in base64`);
      return { surface: found, key: createSecretKey(read.value[0] ?? Buffer.alloc(0)) };
    });
  return Object.fromEntries(
    Object.entries(Object.groupBy(keys, ({ surface }) => surface)).map(([surface, of]) => [
      surface,
      of.map(({ key }) => key),
    ]),
  );
}

const unusable = (what: string, cause?: unknown): OperatorError =>
  new OperatorError("key-file-unusable", `the MAC keys of the audit ${what}`, { cause });
