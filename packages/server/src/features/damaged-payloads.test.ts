/** What commands show of events and values after one byte of them was changed in the database. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { objects, type Printed, runWithBreakGlass } from "../../../../e2e/support/command.ts";
import { Past, type PastEvent } from "../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../e2e/support/use-folder.ts";
import { adoptFound, textOfEvent } from "./adopt-feature.fixture.ts";
import { extractNext } from "./extraction-worker.ts";
import { LayerRunners } from "./layer-runners.ts";
import { createParserOf } from "./read-inputs.ts";

const folder = useFolder();
const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const runners = new LayerRunners();
const parserOf = createParserOf((error) => expect.unreachable(String(error)));
const EXACT = textOfEvent();

/** An event whose values were changed, one that was changed after its values were stored, and one that is whole. */
let values: PastEvent;
let event: PastEvent;
let whole: PastEvent;

beforeAll(async () => {
  const { system } = opened;
  const past = new Past(system);
  await adoptFound(system, "root");
  const store = (account: string): Promise<PastEvent> => past.store(0, { account }, EXACT);
  [values, event, whole] = [await store("values"), await store("event"), await store("whole")];
  const { pool, sealer, featureSealer } = system;
  while (await extractNext({ pool, sealer, featureSealer, runners, parserOf, onError: () => {} }));
  await past.close();
  await flipBit("feature_row", values);
  await flipBit("event", event);
});
afterAll(() => runners.close());

/** Changes one bit in the middle of a payload. Triggers are disabled meanwhile, because they allow no change. */
async function flipBit(table: "event" | "feature_row", { eventId }: PastEvent): Promise<void> {
  await opened.owner.query("set session_replication_role = replica");
  const { rowCount } = await opened.owner.query(
    `update ${table} set payload = set_byte(payload, length(payload) / 2, get_byte(payload, length(payload) / 2) # 1)
      where event_id = $1`,
    [eventId],
  );
  await opened.owner.query("reset session_replication_role");
  expect(rowCount).toBe(1);
}

const drs = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(opened.environment, ...args);

async function done(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await drs(...args, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return objects(stdout)[0] ?? {};
}

describe("values of which one byte was changed", () => {
  it("are reported by every read, and shown by none", async () => {
    const found = await done("feature", "get", "--event", values.eventId);
    expect(found).toMatchObject({ status: "excluded", reason: "unreadable", sha256: null, features: [] });
    expect(await drs("feature", "explain", values.eventId, "root")).toMatchObject({ code: 1, stdout: "" });
    expect(await done("feature", "verify", values.eventId)).toMatchObject({ rows: 1, equal: 0, undecided: 1 });
  });

  it("are unreadable in an export, which has the values of other events", async () => {
    const labels = [values, event, whole].map(({ account }) => `${account},${new Date().toISOString()},good`);
    await writeFile(join(folder(), "labels.csv"), ["account,label_time,label", ...labels, ""].join("\n"));
    const order = ["--features", "root@1", "--purpose", "default", "--clock", "received", "--format", "jsonl"];
    const why = ["--recipient", "fraud team", "--reason", "model 4711", "--expires", "2999-01-31"];
    const files = ["--labels", join(folder(), "labels.csv"), "--out", join(folder(), "out.jsonl")];
    await done("export", "run", ...order, ...why, ...files);
    const rows = objects(await readFile(join(folder(), "out.jsonl"), "utf8"));
    expect(rows.map((row) => [row["root__v1"], row["root__v1__state"]])).toEqual([
      [null, "unreadable"],
      [true, "observed"],
      [true, "observed"],
    ]);
  });
});

it("values stay readable if a byte of their event was changed later, and their verification is undecided", async () => {
  const observed = { status: "computed", reason: null, features: [{ value: true }] };
  expect(await done("feature", "get", "--event", event.eventId)).toMatchObject(observed);
  expect(await done("feature", "verify", event.eventId)).toMatchObject({ rows: 1, equal: 0, undecided: 1 });
  expect(await done("feature", "verify", whole.eventId)).toMatchObject({ rows: 1, equal: 1, undecided: 0 });
});
