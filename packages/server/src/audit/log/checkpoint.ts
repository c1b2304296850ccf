import { createHash, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { HASH_BYTES } from "./merkle.ts";

/** The size and root of a log at one moment. */
export interface Checkpoint {
  /** The name of the log. */
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
}

/** The public key of a log, with the name that a verifier needs. */
export interface LogKey {
  /** The key's name is the origin of the log. */
  readonly origin: string;
  readonly key: KeyObject;
}

const ED25519 = Buffer.from([1]);
const KEY_HASH_BYTES = 4;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** SPKI of an Ed25519 key (RFC 8410), up to the 32 bytes of the key itself. */
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

function rawKey(key: KeyObject): Buffer {
  const publicKey = key.type === "private" ? createPublicKey(key) : key;
  return publicKey.export({ format: "der", type: "spki" }).subarray(-KEY_BYTES);
}

/** The key hash of C2SP `signed-note`: the first four bytes of the SHA-256 of name, line feed, algorithm and key. */
const keyHash = (origin: string, raw: Buffer): Buffer =>
  createHash("sha256").update(`${origin}\n`).update(ED25519).update(raw).digest().subarray(0, KEY_HASH_BYTES);

/** The key in the form of `golang.org/x/mod/sumdb/note`: name, hash and key, joined by `+`. @param key public or private. */
export function formatLogKey(origin: string, key: KeyObject): string {
  const raw = rawKey(key);
  return `${origin}+${keyHash(origin, raw).toString("hex")}+${Buffer.concat([ED25519, raw]).toString("base64")}`;
}

/** @returns `undefined` if the text is not such a key. */
export function parseLogKey(line: string): LogKey | undefined {
  const [, origin = "", hash = "", base64 = ""] = /^([^+\s]+)\+([\da-f]{8})\+([\w+/]+={0,2})$/.exec(line.trim()) ?? [];
  const decoded = Buffer.from(base64, "base64");
  const raw = decoded.subarray(1);
  if (raw.length !== KEY_BYTES || decoded[0] !== ED25519[0]) return undefined;
  if (keyHash(origin, raw).toString("hex") !== hash) return undefined;
  return { origin, key: createPublicKey({ key: Buffer.concat([SPKI_PREFIX, raw]), format: "der", type: "spki" }) };
}

/**
 * A checkpoint (C2SP `tlog-checkpoint`) as a signed note (C2SP `signed-note`), signed with Ed25519 (RFC 8032).
 * @param key private.
 */
export function signCheckpoint({ origin, size, root }: Checkpoint, key: KeyObject): string {
  const body = `${origin}\n${size}\n${root.toString("base64")}\n`;
  const signature = Buffer.concat([keyHash(origin, rawKey(key)), sign(null, Buffer.from(body), key)]);
  return `${body}\n\u2014 ${origin} ${signature.toString("base64")}\n`;
}

/**
 * Verifies the signature of a checkpoint. @returns `undefined` for a text that is no checkpoint or not signed by the
 * key. Signatures of witnesses are ignored.
 */
export function verifyCheckpoint(note: string, { origin, key }: LogKey): Checkpoint | undefined {
  const end = note.lastIndexOf("\n\n");
  const body = note.slice(0, end + 1);
  const checkpoint = parseBody(body);
  if (end < 0 || checkpoint?.origin !== origin) return undefined;
  const hash = keyHash(origin, rawKey(key));
  const isSigned = note
    .slice(end + 2)
    .split("\n")
    .some((line) => {
      const [, name, base64 = ""] = /^\u2014 (\S+) (\S+)$/.exec(line) ?? [];
      const signature = Buffer.from(base64, "base64");
      if (name !== origin || signature.length !== KEY_HASH_BYTES + SIGNATURE_BYTES) return false;
      if (!signature.subarray(0, KEY_HASH_BYTES).equals(hash)) return false;
      return verify(null, Buffer.from(body), key, signature.subarray(KEY_HASH_BYTES));
    });
  return isSigned ? checkpoint : undefined;
}

/** Parses the text before the signatures: origin, size and root. It ignores lines of extensions. */
function parseBody(body: string): Checkpoint | undefined {
  const [origin = "", size = "", base64 = ""] = body.split("\n");
  const root = Buffer.from(base64, "base64");
  if (origin === "" || !/^(?:0|[1-9]\d{0,15})$/.test(size)) return undefined;
  if (root.length !== HASH_BYTES || root.toString("base64") !== base64) return undefined;
  return { origin, size: Number(size), root };
}
