import { pointerOf } from "@device-risk-signals/contract";
import { adoptFields, type AdoptedFields, NOTHING_ADOPTED } from "@device-risk-signals/contract/catalog/adopted";
import { expect } from "vitest";
import type { Covers, EventProbes } from "../../server/src/base/ports.ts";
import { parseText } from "../../server/src/ingest/parse-text.ts";
import { RejectedRequest } from "../../server/src/ingest/request.ts";
import { scanText } from "../../server/src/base/json/scan-text.ts";
import { type SentAttributes, validate, type ValidRequest } from "../../server/src/ingest/validate.ts";
import { readScan } from "../../server/src/ingest/read-scan.ts";
import type { BodyScanner } from "./scanner.ts";

const adoption = adoptFields([
  ["os_integrity", "isEmulator"],
  ["hardware", "batteryLevel"],
  ["device_identity", "androidBuild", "sdkInt"],
]);
const ADOPTED = adoption.ok ? adoption.adopted : NOTHING_ADOPTED;

const COVERS: readonly Covers[] = [
  (probe) => probe !== "network",
  (probe, field) => probe !== "os_integrity" || field !== "isEmulator",
  (probe) => probe === "fonts" || probe === "hardware" || probe === "telephony",
];

export type Verdict = "accepted" | "unsure" | "rejected";

/**
 * Reads a body in both ways, and compares everything that ingestion uses of it.
 *
 * @returns `accepted` by both, `unsure` for a valid body that the scanner left to the slow path, or `rejected`.
 */
export function comparePaths(scanner: BodyScanner, body: Buffer): Verdict {
  const verdict = compareWith(scanner, body, NOTHING_ADOPTED);
  if (verdict === "accepted" && body.length % 4 === 0) compareWith(scanner, body, ADOPTED);
  return verdict;
}

function compareWith(scanner: BodyScanner, body: Buffer, adopted: AdoptedFields): Verdict {
  const scan = scanner.scan(body);
  const fast = scan && readScan(scan, body, adopted);
  const text = scanText(body);
  const parsed = parseText(body, text);
  const slow = parsed instanceof RejectedRequest ? parsed : validate(parsed, body, adopted);
  if (slow instanceof RejectedRequest) {
    if (fast) throw new Error(`the scanner accepts what is ${JSON.stringify(slow.rejection)}`);
    return "rejected";
  }
  if (!scan || !fast) return "unsure";
  same(fast.adoptedErrors, slow.adoptedErrors);
  same({ members: scan.members, escapes: scan.escapes }, text);
  compareValues(fast, slow);
  const covers = COVERS[body.length % COVERS.length] as Covers;
  same(fast.probes.areCovered(covers), isEverythingCovered(slow.probes, covers));
  return "accepted";
}

function same(one: unknown, other: unknown): void {
  if (JSON.stringify(one) !== JSON.stringify(other)) expect(one).toEqual(other);
}

function compareValues(fast: ValidRequest, slow: ValidRequest): void {
  if (!fast.exact.equals(slow.exact)) throw new Error("the exact bytes differ");
  for (const [name, value] of Object.entries(slow.attributes)) {
    same([name, fast.attributes[name as keyof SentAttributes]], [name, value]);
  }
  same(fast.collectedAt, slow.collectedAt);
  same(departuresOf(fast), departuresOf(slow));
  const [one, other] = [fast.probes.outcomes(), slow.probes.outcomes()];
  // The scanner leaves room for more probes than the catalog has.
  if (!Buffer.from(one.known.subarray(0, other.known.length)).equals(other.known))
    expect(one.known).toEqual(other.known);
  same([...one.unknown()].toSorted(ascending), [...other.unknown()].toSorted(ascending));
  same(one.systemVersion, other.systemVersion);
  if (slow.exact.length % 8 === 0) same(fast.parsed(), slow.parsed());
}

const ascending = (one: number, other: number): number => one - other;

/** The names are sorted, because V8 lists names that look like numbers first. */
function departuresOf({ probes }: ValidRequest): readonly string[] {
  return probes
    .departures()
    .map(({ kind, path, found }) => `${kind} ${pointerOf(path)} ${found}`)
    .toSorted();
}

function isEverythingCovered(probes: EventProbes, covers: Covers): boolean {
  const observed = Object.entries(probes.parsed()) as [string, { data?: object }][];
  return observed.every(
    ([probe, { data = {} }]) => covers(probe) && Object.keys(data).every((field) => covers(probe, field)),
  );
}
