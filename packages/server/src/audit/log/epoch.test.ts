/** Tests of the epochs of a log. A restored database continues in a separate tree, and the verifier reports this. */
import { describe, expect, it } from "vitest";
import { signCheckpoint } from "./checkpoint.ts";
import { epochReferences, originOfEpoch, verifyEpochCheckpoint } from "./epoch.ts";
import { formatItem, parseItem } from "./export-file.ts";
import { signOutsideLane } from "../../store/audit-record/lane.ts";
import { DIRECT, LOG_KEY, logKeyOf, logOf, ORIGIN, PRIVATE_KEY, read, signedEntries, STARTED } from "./log.fixture.ts";
import { inEpoch, SURFACE_KEYS } from "./log.fixture.ts";
import type { SignedRecord } from "../../store/audit-record/record.ts";
import { type LogItem, type Verification, verifyLog } from "./verify.ts";

const COUNT = 40;
const LOST = 60;
const all = signedEntries(LOST);
const before = all.slice(0, COUNT);
const whole = logOf(all, [20, COUNT, LOST]);
const restored = logOf(before, [20, COUNT]);
const [, continued = ""] = restored.notes;
const kept = whole.notes.at(-1) ?? "";

const entryOf = (number: number, operation: string, outcome: string, detail: object): SignedRecord => {
  const { record: _, ...signed } = signOutsideLane(DIRECT, {
    ...read(number),
    operation,
    outcome,
    reason: undefined,
    detail: JSON.stringify(detail),
  });
  return signed;
};

const begun = (references: object = epochReferences(2, kept, continued)): SignedRecord =>
  entryOf(1_000, "audit.epoch", "begun", references);
const EPOCH_ENTRY_ID = "019a8f00-0000-7abc-8def-000000001000";
const review = (outcome: string): SignedRecord =>
  entryOf(1_001, "audit.review", outcome, { entry_id: EPOCH_ENTRY_ID, review_id: "a review" });

/** A second epoch of these entries, after the restored first one. */
function continuedBy(entries: readonly SignedRecord[], first = restored.items): { items: LogItem[]; note: string } {
  const { items, notes } = inEpoch(2, entries);
  return { items: [...first, ...items], note: notes.at(-1) ?? "" };
}

async function* streamed(items: readonly LogItem[]): AsyncGenerator<LogItem> {
  yield* items;
}

const verify = (items: readonly LogItem[], ...outside: string[]): Promise<Verification> =>
  verifyLog(streamed(items), { key: LOG_KEY, outside, surfaces: SURFACE_KEYS, now: STARTED });

const rawRead = (): SignedRecord => entryOf(1_002, "event.read_raw", "done", {});

describe("a log that continues after a restore", () => {
  it("is reported as restored until an auditor has reviewed it", async () => {
    const { items, note } = continuedBy([begun(), rawRead()]);
    const what = "Epoch 2 follows a restore: 60 entries of epoch 1 were kept outside, the database had 40 of epoch 1.";
    expect(await verify(items, note)).toMatchObject({ verdict: 6, findings: [{ kind: "restored", what }] });
    const open = continuedBy([begun(), review("opened")]);
    expect(await verify(open.items, open.note)).toMatchObject({ verdict: 6, findings: [{ kind: "restored" }] });
    const closed = continuedBy([begun(), review("closed")]);
    expect(await verify(closed.items, closed.note, kept, continued)).toEqual({
      verdict: 0,
      findings: [],
      size: COUNT + 2,
      from: 0,
      confirmed: COUNT + 2,
      waiting: 0,
      overdue: 0,
    });
  });

  it("confirms the entries before the restore, because the new epoch names the last checkpoint of them", async () => {
    const { items, note } = continuedBy([begun(), review("closed")]);
    expect(await verify(items, note)).toMatchObject({ verdict: 0, confirmed: COUNT + 2 });
    const forged = before.with(12, signOutsideLane(DIRECT, read(900)));
    const attacked = continuedBy([begun(), review("closed")], logOf(forged, [20, COUNT]).items);
    const { findings } = await verify(attacked.items, attacked.note);
    expect(findings).toContainEqual({
      kind: "changed",
      what: "The leaves of epoch 1 differ from what the next epoch names.",
    });
  });

  it("may have lost only as many entries as its first entry says: a larger checkpoint of the previous epoch is a finding", async () => {
    const admits = epochReferences(2, restored.notes[0] ?? "", continued);
    const { items, note } = continuedBy([begun(admits), review("closed")]);
    expect(await verify(items, note, kept)).toMatchObject({ verdict: 6, findings: [{ kind: "truncated" }] });
  });

  it("counts as rolled back if it lacks the epoch of a checkpoint that was kept outside", async () => {
    const { note } = continuedBy([begun()]);
    expect(await verify(restored.items, note)).toMatchObject({
      verdict: 6,
      findings: [
        { kind: "truncated", what: "A checkpoint kept outside has 1 entries; the log does not have its epoch." },
      ],
    });
  });

  it.each([
    ["another entry", rawRead()],
    ["an entry of another epoch", begun(epochReferences(3, kept, continued))],
    [
      "a checkpoint that the key did not sign",
      begun(epochReferences(2, logOf(all, [LOST], logKeyOf("x")).notes[0] ?? "")),
    ],
    ["no checkpoint", begun({ epoch: "2" })],
  ])("can't begin with %s", async (_, first) => {
    const { items, note } = continuedBy([first, review("closed")]);
    expect((await verify(items, note)).findings[0]).toMatchObject({ kind: "invalid" });
  });

  it("accepts only checkpoints of its own epoch", async () => {
    const { items, note } = continuedBy([begun(), review("closed")]);
    const misplaced = [...items, { kind: "checkpoint", note: continued } as const];
    expect(await verify(misplaced, note)).toMatchObject({ verdict: 6, findings: [{ kind: "invalid" }] });
  });

  it("is written to an export and read from it", () => {
    const { items } = continuedBy([begun()]);
    expect(items.map((item) => parseItem(formatItem(item)))).toEqual(items);
    expect(parseItem('{"epoch":"2","leaf":0,"hash":""}')).toBeUndefined();
  });
});

it("a checkpoint names its epoch", () => {
  const noteOf = (origin: string): string => signCheckpoint({ origin, size: 1, root: Buffer.alloc(32) }, PRIVATE_KEY);
  const epochOf = (origin: string): number | undefined => verifyEpochCheckpoint(noteOf(origin), LOG_KEY)?.epoch;
  expect([1, 2, 17].map((epoch) => epochOf(originOfEpoch(ORIGIN, epoch)))).toEqual([1, 2, 17]);
  for (const suffix of ["/1", "/0", "/02", "/-2", "/x", "/", "/2/3", "2"]) {
    expect(epochOf(`${ORIGIN}${suffix}`), suffix).toBeUndefined();
  }
});
