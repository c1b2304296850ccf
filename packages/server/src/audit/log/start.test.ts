/** Tests of logs that are read from a checkpoint on. */
import { describe, expect, it } from "vitest";
import { formatItem, parseItem } from "./export-file.ts";
import { signOutsideLane } from "../../store/audit-record/lane.ts";
import { DIRECT, inEpoch, LOG_KEY, logOf, read, signedEntries, STARTED, SURFACE_KEYS } from "./log.fixture.ts";
import { CompactRange, leafHash } from "./merkle.ts";
import { type LogItem, type LogStart, type Verification, verifyLog } from "./verify.ts";

const COUNT = 40;
const FROM = 22;
const entries = signedEntries(COUNT);
const log = logOf(entries, [11, FROM, COUNT]);
const [early = "", middle = "", last = ""] = log.notes;

const rootsAt = (size: number): readonly Buffer[] => {
  const tree = new CompactRange();
  for (const { bytes, mac } of entries.slice(0, size)) tree.append(leafHash(bytes, mac));
  return tree.roots;
};
const start: LogStart = { kind: "start", pruned: false, epoch: 1, size: FROM, roots: rootsAt(FROM), note: middle };
const rest = log.items.slice(log.items.findIndex((item) => item.kind === "checkpoint" && item.note === middle) + 1);

async function* streamed(items: readonly LogItem[]): AsyncGenerator<LogItem> {
  yield* items;
}

const verify = (items: readonly LogItem[], ...outside: string[]): Promise<Verification> =>
  verifyLog(streamed(items), { key: LOG_KEY, outside, surfaces: SURFACE_KEYS, now: STARTED });

describe("a log that is read from a checkpoint on", () => {
  it("is intact, and says where it starts", async () => {
    const expected = { verdict: 0, findings: [], size: COUNT, from: FROM, confirmed: COUNT };
    expect(await verify([start, ...rest], last)).toMatchObject(expected);
    expect(await verify([start, ...rest], early, middle, last)).toMatchObject(expected);
    expect(await verify([start, ...rest], middle)).toMatchObject({ verdict: 3, confirmed: FROM });
    expect(await verify([start], middle)).toMatchObject({ verdict: 0, size: FROM });
  });

  it("is intact if it starts in a later epoch", async () => {
    const second = inEpoch(2, [signOutsideLane(DIRECT, read(1)), signOutsideLane(DIRECT, read(2))]);
    const { bytes, mac } = signOutsideLane(DIRECT, read(1));
    const one = inEpoch(2, [{ bytes, mac }]);
    const from: LogStart = {
      kind: "start",
      pruned: false,
      epoch: 2,
      size: 1,
      roots: [leafHash(bytes, mac)],
      note: one.notes[0] ?? "",
    };
    expect(await verify([from, ...second.items.slice(1)], last, second.notes[0] ?? "")).toMatchObject({
      verdict: 0,
      size: 2,
      from: 1,
    });
  });

  it.each([
    ["another hash", { roots: [...rootsAt(FROM).slice(1), leafHash()] }],
    ["too few hashes", { roots: rootsAt(FROM).slice(1) }],
    ["another size", { size: FROM + 1 }],
    ["another epoch", { epoch: 2 }],
    ["another checkpoint", { note: last }],
    ["no checkpoint", { note: "" }],
  ])("does not start with hashes that no checkpoint signs: %s", async (_, change) => {
    expect((await verify([{ ...start, ...change }, ...rest])).findings[0]).toMatchObject({ kind: "invalid" });
  });

  it("does not hide later changes", async () => {
    const forged = rest.map((item) =>
      item.kind === "leaf" && item.index === 30 ? { ...item, entry: signOutsideLane(DIRECT, read(900)) } : item,
    );
    expect(await verify([start, ...forged], last)).toMatchObject({ verdict: 6 });
    const without = rest.filter((item) => item.kind !== "leaf" || item.index !== 30);
    expect(await verify([start, ...without], last)).toMatchObject({ verdict: 6 });
  });

  it("may begin after pruned leaves, but only if an entry says that they were pruned", async () => {
    const pruned = { ...start, pruned: true };
    const prune = (size: number): LogItem => {
      const entry = signOutsideLane(DIRECT, {
        ...read(1),
        operation: "audit.prune",
        detail: `{"epoch":"1","size":"${size}"}`,
      });
      return { kind: "new", entry };
    };
    expect(await verify([pruned, ...rest, prune(FROM)], last)).toMatchObject({ verdict: 0, from: FROM });
    const what = "The log starts after 22 leaves of epoch 1, and no entry says that they were pruned.";
    for (const items of [
      [pruned, ...rest],
      [pruned, ...rest, prune(FROM - 1)],
    ]) {
      expect(await verify(items, last)).toMatchObject({ verdict: 6, findings: [{ kind: "removed", what }] });
    }
  });

  it("is written to an export and read from it, as pruned", () => {
    expect(parseItem(formatItem(start))).toEqual({ ...start, pruned: true });
    for (const line of [
      '{"start":1}',
      '{"start":1,"epoch":1,"note":"","roots":[1]}',
      '{"start":0.5,"epoch":1,"note":"","roots":[]}',
    ]) {
      expect(parseItem(line), line).toBeUndefined();
    }
  });
});
