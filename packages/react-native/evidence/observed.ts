/** Texts of real devices, quoted from public threads, and their conversion into evidence for tests. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CasePlatform, EvidenceCase } from "./load.ts";

export interface ObservedText {
  readonly name: string;
  /** The device, as its owner describes it. */
  readonly of: string;
  readonly platform: CasePlatform;
  /** The thread or file that contains the text. */
  readonly source: string;
  /** The findings that the judgements must report; none by default. */
  readonly shows?: readonly string[];
  readonly properties?: Readonly<Record<string, string>>;
  readonly build?: Readonly<Record<string, string>>;
  readonly images?: readonly string[];
  readonly stack?: readonly string[];
  readonly maps?: readonly string[];
  readonly mountInfo?: readonly string[];
  readonly cpuInfo?: readonly string[];
  /** Output of `mount`: `source on point type type (options)`. */
  readonly mounts?: readonly string[];
  /** Files from which code was mapped, if the text has no complete lines of a memory map. */
  readonly code?: readonly string[];
}

export function readObserved(which: "stock" | "compromised"): readonly ObservedText[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, `observed/${which}.json`), "utf8")) as ObservedText[];
}

/** Makes a case whose only evidence is the text. What the text does not mention is unknown. */
export function caseOf({ name, of, source, platform, mounts, code, ...text }: ObservedText): EvidenceCase {
  const { properties, build, images, stack, maps, mountInfo, cpuInfo } = text;
  const evidence = {
    ...(properties && { properties: { "*": "?", ...properties } }),
    ...(build && { build }),
    ...(images && { images }),
    ...(stack && { stack }),
    ...(cpuInfo && { cpuInfo }),
    ...((maps ?? code) && { maps: maps ?? code?.map(mapping) }),
    ...((mountInfo ?? mounts) && { mountInfo: mountInfo ?? mounts?.map(mountLine) }),
  };
  const answers = { os_integrity: { evidence } };
  return { name, about: of, sources: [source], platform, answers, expect: {}, absent: {} };
}

function mapping(path: string): string {
  return `00010000-00020000 r-xp 00000000 00:00 0 ${path}`;
}

/**
 * Converts a line of the output of `mount` into a line of the kernel's mount table. The output has no root and no
 * device number, so the line gets `/` and `0:0`.
 */
function mountLine(line: string): string {
  const [, source = "", point = "", type = "", options = ""] = /^(\S+) on (.+) type (\S+) \((.*)\)$/.exec(line) ?? [];
  return `1 1 0:0 / ${point} ${options} - ${type} ${source} ${options}`;
}
