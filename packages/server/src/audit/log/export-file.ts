import { formatLogKey, type LogKey } from "./checkpoint.ts";
import type { LogItem, StoredEntry } from "./verify.ts";

/** The first line of an export; every other line is an item of the log. Byte strings are in base64. */
export interface ExportHeader {
  readonly key: string;
  /** RFC 3339. */
  readonly exportedAt: string;
}

const FORMAT = "drs-audit-export/1";

export const headerOf = ({ origin, key }: LogKey, exportedAt: Date): object => ({
  format: FORMAT,
  key: formatLogKey(origin, key),
  exported_at: exportedAt.toISOString(),
});

export const formatHeader = (key: LogKey, exportedAt: Date): string => `${JSON.stringify(headerOf(key, exportedAt))}\n`;

export const formatItem = (item: LogItem): string => `${JSON.stringify(lineOf(item))}\n`;

/** The line of an item, before it is written as JSON. */
export function lineOf(item: LogItem): object {
  if (item.kind === "start") {
    const { epoch, size, roots, note } = item;
    return { start: size, epoch, roots: roots.map((root) => root.toString("base64")), note };
  }
  if (item.kind === "checkpoint") return { checkpoint: item.note };
  if (item.kind === "new") return { new: true, ...entryOf(item.entry) };
  const epoch = item.epoch !== undefined && { epoch: item.epoch };
  const unverified = item.unverified && { unverified: true };
  const entry = item.entry && entryOf(item.entry);
  return { ...epoch, leaf: item.index, hash: item.hash.toString("base64"), ...unverified, ...entry };
}

const entryOf = ({ bytes, mac, differing }: StoredEntry): object => ({
  record: bytes.toString("base64"),
  mac: mac.toString("base64"),
  ...(differing && { differing }),
});

interface Line {
  readonly format?: unknown;
  readonly key?: unknown;
  readonly exported_at?: unknown;
  readonly start?: unknown;
  readonly roots?: unknown;
  readonly note?: unknown;
  readonly checkpoint?: unknown;
  readonly new?: unknown;
  readonly epoch?: unknown;
  readonly leaf?: unknown;
  readonly hash?: unknown;
  readonly record?: unknown;
  readonly mac?: unknown;
  readonly differing?: unknown;
  readonly unverified?: unknown;
}

/** @returns `undefined` if the line is not the first line of an export. */
export function parseHeader(line: string): ExportHeader | undefined {
  const { format, key, exported_at } = parse(line);
  return format === FORMAT && typeof key === "string" && typeof exported_at === "string"
    ? { key, exportedAt: exported_at }
    : undefined;
}

/** @returns `undefined` if the line is not an item. */
export function parseItem(line: string): LogItem | undefined {
  const { checkpoint, epoch, leaf, hash, record, mac, differing, ...rest } = parse(line);
  if (rest.start !== undefined) return startOf({ ...rest, epoch });
  if (typeof checkpoint === "string") return { kind: "checkpoint", note: checkpoint };
  const entry: StoredEntry | undefined =
    typeof record === "string" && typeof mac === "string"
      ? {
          bytes: Buffer.from(record, "base64"),
          mac: Buffer.from(mac, "base64"),
          ...(Array.isArray(differing) && { differing: differing.map(String) }),
        }
      : undefined;
  if (rest.new === true) return entry && { kind: "new", entry };
  if (!Number.isSafeInteger(leaf) || typeof hash !== "string") return undefined;
  if (epoch !== undefined && !Number.isSafeInteger(epoch)) return undefined;
  const inEpoch = epoch !== undefined && { epoch: epoch as number };
  return {
    kind: "leaf",
    ...inEpoch,
    index: leaf as number,
    hash: Buffer.from(hash, "base64"),
    ...(rest.unverified === true && { unverified: true }),
    ...(entry && { entry }),
  };
}

function startOf({ start: size, epoch, roots, note }: Line): LogItem | undefined {
  if (!Number.isSafeInteger(size) || !Number.isSafeInteger(epoch) || typeof note !== "string") return undefined;
  if (!Array.isArray(roots) || !roots.every((root) => typeof root === "string")) return undefined;
  const decoded = roots.map((root) => Buffer.from(root, "base64"));
  // An export contains the whole log, so leaves that are missing at its start must have been pruned.
  return { kind: "start", pruned: true, epoch: epoch as number, size: size as number, roots: decoded, note };
}

function parse(line: string): Line {
  try {
    const value = JSON.parse(line) as unknown;
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
