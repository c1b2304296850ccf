/**
 * A marker describes a guard in the source, how it is switched off, and the test that must then fail:
 *
 *     // guard(drop): an erasure waits for holds that are being placed
 *     // fails: e2e/erasure/concurrency.test.ts › begins when what has
 *     await executor.query("select lock_holds()");
 *
 * It applies to the next line that is no comment. In SQL it begins with `--`, also in a template of TypeScript.
 */
export const KINDS = ["drop", "true", "false", "left", "right", "throw", "no-rows"] as const;

export type Kind = (typeof KINDS)[number];

export interface Marker {
  readonly kind: Kind;
  readonly rule: string;
  /** `name` is a part of the test's name. If it is empty, the failure of any test of the file counts. */
  readonly test: { readonly file: string; readonly name: string };
  readonly language: "typescript" | "sql";
  /** The line of the marker, counted from 1. */
  readonly line: number;
  /** The position at which the guarded line begins, after its indentation. */
  readonly at: number;
}

/** The error for a marker that can't be read or applied. */
export class MarkerInvalid extends Error {
  override readonly name = "MarkerInvalid";
}

/** A guard with only `guard: WHY` is for readers; no run disables it. */
const MARKER_START = /^\s*(\/\/|--) guard\b(?!: )/;
const GUARD_LINE = /^\s*(?:\/\/|--) guard\((?<kind>[a-z-]+)\): (?<rule>\S.*)$/;
const FAILS_LINE = /^\s*(?:\/\/|--) fails: (?<file>\S+)(?: › (?<name>\S.*))?$/;
const COMMENT_START = /^\s*(\/\/|--|\/?\*)/;

export function readMarkers(text: string): readonly Marker[] {
  const lines = text.split("\n");
  return lines.flatMap((line, index) => {
    const sign = MARKER_START.exec(line)?.[1];
    return sign === undefined ? [] : [readMarker(lines, index, sign)];
  });
}

function readMarker(lines: readonly string[], index: number, sign: string): Marker {
  const guard = GUARD_LINE.exec(lines[index] ?? "")?.groups;
  const fails = FAILS_LINE.exec(lines[index + 1] ?? "")?.groups;
  const kind = KINDS.find((one) => one === guard?.["kind"]);
  if (!guard?.["rule"] || !fails?.["file"] || !kind) {
    throw new MarkerInvalid(
      `line ${index + 1}: a marker has two lines, "guard(${KINDS.join("|")}): RULE" and "fails: FILE › TEST"`,
    );
  }
  const target = lines.findIndex((line, at) => at > index && line.trim() !== "" && !COMMENT_START.test(line));
  if (target < 0) throw new MarkerInvalid(`line ${index + 1}: no line follows the marker`);
  const before = lines.slice(0, target).reduce((sum, line) => sum + line.length + 1, 0);
  return {
    kind,
    rule: guard["rule"],
    test: { file: fails["file"], name: fails["name"] ?? "" },
    language: sign === "--" ? "sql" : "typescript",
    line: index + 1,
    at: before + (lines[target]?.search(/\S/) ?? 0),
  };
}
