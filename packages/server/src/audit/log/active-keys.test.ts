/** Tests of logs whose surfaces got MAC keys of their own. From then on, derived keys are refused. */
import { createSecretKey, type KeyObject } from "node:crypto";
import { describe, expect, it } from "vitest";
import { KEYS_OPERATION, keyReferences } from "./active-keys.ts";
import { signOutsideLane } from "../../store/audit-record/lane.ts";
import { ingested, LOG_KEY, logOf, read, STARTED } from "./log.fixture.ts";
import { CompactRange, leafHash } from "./merkle.ts";
import { type SignedRecord, type Surface, SURFACES } from "../../store/audit-record/record.ts";
import { surfaceKeyId, type SurfaceKeys } from "../../store/audit-record/surfaces.ts";
import { type LogItem, type Verification, verifyLog, type VerifyOptions } from "./verify.ts";

type Keys = Required<SurfaceKeys>;
type Ids = Record<Surface, string>;

const bySurface = <Value>(valueOf: (surface: Surface) => Value): Record<Surface, Value> =>
  Object.fromEntries(SURFACES.map((surface) => [surface, valueOf(surface)])) as Record<Surface, Value>;

const keysOf = (fill: number): Keys =>
  bySurface((surface) => createSecretKey(Buffer.alloc(32, fill + SURFACES.indexOf(surface))));
const [derived, own, next] = [keysOf(0), keysOf(10), keysOf(20)];
const idsOf = (keys: Keys): Ids => bySurface((surface) => surfaceKeyId(keys[surface]));

const VIA: Readonly<Record<Surface, string>> = { ingest: "server", admin: "api", worker: "server", direct: "direct" };
let count = 0;

function entry(keys: Keys, surface: Surface, given: object = {}): SignedRecord {
  const number = ++count;
  const record = surface === "ingest" ? ingested(number) : { ...read(number), via: VIA[surface] };
  return signOutsideLane({ surface, key: keys[surface] }, { ...record, ...given });
}

function change(keys: Keys, from: Keys, to: Keys, surface: Surface = "direct"): SignedRecord {
  const detail = JSON.stringify(keyReferences(idsOf(from), idsOf(to)));
  return entry(keys, surface, { operation: KEYS_OPERATION, detail });
}

const all = (keys: Keys): SignedRecord[] => SURFACES.map((surface) => entry(keys, surface));

const RINGS: Pick<VerifyOptions, "surfaces" | "replaced" | "mayLackKeys"> = {
  surfaces: next,
  replaced: bySurface((surface): readonly KeyObject[] => [derived[surface], own[surface]]),
};

/** @param from the number of entries before the place where the verification starts. */
async function verify(entries: readonly SignedRecord[], from = 0, rings = RINGS): Promise<Verification> {
  const { items, notes } = logOf(entries, from === 0 ? [entries.length] : [from, entries.length]);
  const tree = new CompactRange();
  for (const { bytes, mac } of entries.slice(0, from)) tree.append(leafHash(bytes, mac));
  const start: LogItem = {
    kind: "start",
    pruned: false,
    epoch: 1,
    size: from,
    roots: tree.roots,
    note: notes[0] ?? "",
  };
  async function* streamed(): AsyncGenerator<LogItem> {
    yield* from === 0 ? items : [start, ...items.slice(from + 1)];
  }
  return verifyLog(streamed(), { key: LOG_KEY, outside: notes.slice(-1), now: STARTED, ...rings });
}

const HOLDS = { verdict: 0, findings: [] };
const refused = (what: RegExp): object => ({
  verdict: 6,
  findings: [{ kind: "inserted", what: expect.stringMatching(what) as string }],
});

describe("a log whose keys were changed", () => {
  const first = [...all(derived), ...all(own), change(own, derived, own), ...all(own)];

  it("is intact if entries have the earlier keys before a change and the present keys after it, also with a second change", async () => {
    expect(await verify(first)).toMatchObject(HOLDS);
    expect(await verify([...first, ...all(next), change(next, own, next), ...all(next)])).toMatchObject(HOLDS);
    expect(await verify(all(derived))).toMatchObject(HOLDS);
  });

  it.each(SURFACES)("has no entry of %s with a replaced key after the change", async (surface) => {
    const found = new RegExp(`^The MAC of .* is of a key of ${surface} that was replaced before`);
    expect(await verify([...first, entry(derived, surface)])).toMatchObject(refused(found));
    const later = [...first, change(next, own, next), entry(own, surface)];
    expect(await verify(later)).toMatchObject(refused(found));
  });

  it("does not accept a change of keys that is signed with a derived key, because each process has that key", async () => {
    expect(await verify([...all(derived), change(derived, derived, own)])).toMatchObject(refused(/derived key itself/));
  });

  it("accepts a change of keys only from a command or a worker", async () => {
    expect(await verify([...all(own), change(own, derived, own, "worker")])).toMatchObject(HOLDS);
    expect(await verify([...all(own), change(own, derived, own, "admin")])).toMatchObject(refused(/^admin changes no/));
  });

  it("does not accept a change of keys if the verifier lacks one of the new keys", async () => {
    const rings = { surfaces: own, replaced: bySurface((surface) => [derived[surface]]) };
    const entries = [...all(own), change(own, own, next)];
    expect(await verify(entries, 0, rings)).toMatchObject(refused(/a key of ingest that is not known here/));
    expect(await verify([...entries, ...all(derived)], 0, {})).toMatchObject(HOLDS);
  });
});

describe("a log with an entry that activates keys which the verifier lacks", () => {
  const rings = { surfaces: own, replaced: bySurface((surface): readonly KeyObject[] => [derived[surface]]) };
  const foreign = change(next, own, next);

  it("is broken if no entry has these keys, and if entries with earlier keys follow", async () => {
    const found = { verdict: 6, findings: [expect.objectContaining({ kind: "inserted" })] };
    expect(await verify([...all(own), foreign], 0, rings)).toMatchObject(found);
    const later = await verify([...all(own), foreign, entry(next, "direct"), ...all(own)], 0, rings);
    expect(later).toMatchObject({ verdict: 6 });
    expect(later.findings[0]?.what).toMatch(/^The MAC of leaf 4 .* is not of direct: .* keys that the verifier lacks/);
  });

  it("can't be verified if all later entries have these keys", async () => {
    const entries = [...all(own), ...all(next), foreign, ...all(next)];
    const lacksKeysOf = expect.stringMatching(/^leaf 8 \(entry /) as string;
    const findings = Array.from({ length: 9 }, () => expect.objectContaining({ kind: "inserted" }) as object);
    expect(await verify(entries, 0, rings)).toMatchObject({ verdict: 1, findings, lacksKeysOf });
    expect(await verify(entries, 9, { ...rings, mayLackKeys: true })).toMatchObject({ verdict: 1 });
    expect((await verify(entries, 9, rings)).verdict).toBe(6);
  });
});

it("a log is broken if an entry with a known key follows forged ones, also if its last entries have unknown keys", async () => {
  const rings = { surfaces: own, replaced: bySurface((surface): readonly KeyObject[] => [derived[surface]]) };
  const forged = [...all(own), entry(next, "admin"), ...all(own)];
  const hidden = [...forged, change(next, own, next), entry(next, "direct")];
  const { verdict, findings } = await verify(hidden, 0, rings);
  expect([verdict, findings.length, findings[0]?.what]).toEqual([6, 3, expect.stringMatching(/^The MAC of leaf 4 /)]);
  const many = [...all(own), change(next, own, next), ...Array.from({ length: 100 }, () => entry(next, "admin"))];
  const forgedLater = entry(next, "ingest", { operation: "event.read_raw" });
  expect((await verify([...many, forgedLater], 0, rings)).verdict, "beyond the maximum of findings").toBe(6);
  const started = await verify(hidden, 2, { ...rings, mayLackKeys: true });
  expect(started.verdict).toBe(6);
});

describe("a log that is read from a later place on", () => {
  const before = [...all(derived), change(own, derived, own), ...all(own)];
  const from = before.length;

  it("is intact with the keys that the next change names as the previous ones", async () => {
    expect(await verify([...before, ...all(next)], from)).toMatchObject(HOLDS);
    expect(await verify([...before, ...all(own), change(next, own, next), ...all(next)], from)).toMatchObject(HOLDS);
    expect(await verify([...all(derived), ...all(derived), change(next, derived, next)], 4)).toMatchObject(HOLDS);
  });

  it("is broken if it has an entry with a key that an earlier change replaced", async () => {
    const forged = entry(derived, "admin");
    expect(await verify([...before, forged], from)).toMatchObject(refused(/nothing that was read says/));
    const changed = [...before, forged, change(next, own, next)];
    expect(await verify(changed, from)).toMatchObject(refused(/comes after an entry of admin with a replaced key/));
    const pruned = [...before, forged, change(own, own, own)];
    expect(await verify(pruned, from)).toMatchObject(refused(/comes after an entry of admin with a replaced key/));
    const excused = [...before, forged, change(derived, derived, derived, "worker")];
    expect((await verify(excused, from)).findings).toHaveLength(2);
  });
});
