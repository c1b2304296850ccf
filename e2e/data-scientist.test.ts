/**
 * Tests of the work of a data scientist, from the first definition to an export for training. Each test continues from
 * the previous one.
 */
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parquetReadObjects } from "hyparquet";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ExtractionWorker } from "../packages/server/src/features/extraction-worker.ts";
import { objects, type Printed, runWithBreakGlass } from "./support/command.ts";
import { until } from "./support/embedded.ts";
import { Past } from "./support/past-event.ts";
import { fullRounds } from "./support/soak.ts";
import { useTestSystem } from "./support/test-system.ts";
import { useFolder } from "./support/use-folder.ts";

const EVENTS = fullRounds(200, 100_000);
const LABELS = 5_000;
const STORED_AT_ONCE = fullRounds(100, 500);
const REASON = ["--reason", "review 4711"];
const HELPER = `import type { Reading } from "@device-risk-signals/features";
export const valueOf = (reading: Reading<boolean>) => (reading.state === "observed" ? reading.value : null);
`;

const folder = useFolder();
const testSystem = useTestSystem();
const errors: unknown[] = [];
const eventIds: string[] = [];
let past: Past;
let worker: ExtractionWorker;
/** A time after the last event was stored and before any value was computed. */
let storedAt: string;

const path = (name: string): string => join(folder(), name);
const drs = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(testSystem.environment, ...args);

async function succeed(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await drs(...args);
  // A comparison of many events reports its progress.
  const unexpected = stderr.replaceAll(/^\d+ events\n/gm, "");
  expect({ code, unexpected }, args.join(" ")).toEqual({ code: 0, unexpected: "" });
  return stdout;
}

const firstObjectOf = async (...args: readonly string[]): Promise<Record<string, unknown>> =>
  objects(await succeed(...args, "--json"))[0] ?? {};

const repository = (file = ""): string => path(join("repository", file));

async function edit(file: string, ...changes: readonly (readonly [from: string, to: string])[]): Promise<void> {
  const text = await readFile(repository(file), "utf8");
  await writeFile(
    repository(file),
    changes.reduce((before, [from, to]) => before.replace(from, to), text),
  );
}

/** The value of `isVpnActive` in the event at this index: `true`, `false` and absent, each in a third of the events. */
const isActive = (index: number): boolean | undefined => [true, false, undefined][index % 3];

beforeAll(
  async () => {
    past = new Past(testSystem.system);
    while (eventIds.length < EVENTS) {
      const stored = Array.from({ length: STORED_AT_ONCE }, (_, at) => {
        const network = `{"status":"success","data":${JSON.stringify({ isVpnActive: isActive(eventIds.length + at) })}}`;
        return past.store(0, {}, `{"probes":{"network":${network}},"session_id":"s"}`);
      });
      eventIds.push(...(await Promise.all(stored)).map(({ eventId }) => eventId));
    }
    storedAt = new Date().toISOString();
    const onError = (error: unknown): void => void errors.push(error);
    worker = new ExtractionWorker({ ...testSystem.system, onError });
  },
  fullRounds(60_000, 1_200_000),
);
afterAll(async () => {
  await worker?.close();
  await past?.close();
  expect(errors).toEqual([]);
});

const DEFINITION = "features/vpn-used.feature.ts";

it("an edited helper fails the check, which names the features that import it", async () => {
  await succeed("feature", "init", repository());
  const definition = (await readFile(repository("features/vpn-active.feature.ts"), "utf8"))
    .replace("vpn_active", "vpn_used")
    .replace("import {", 'import { valueOf } from "./value-of.ts";\nimport {')
    .replace('(vpn.state === "observed" ? vpn.value : null)', "valueOf(vpn)");
  await writeFile(repository(DEFINITION), definition);
  await writeFile(repository("features/value-of.ts"), HELPER);
  await succeed("feature", "lock", repository());
  await succeed("feature", "propose", repository(), ...REASON);

  await edit("features/value-of.ts", ["? reading", "? !reading"]);
  const { code, stderr } = await drs("feature", "test", repository());
  expect(code).toBe(1);
  expect(stderr).toContain("the code of vpn_used@1 differs from features.lock.json: give the feature version 2");
  expect(stderr).not.toContain("vpn_active@1");
  await edit(DEFINITION, ["version: 1", "version: 2"], ["vpn-active.fixtures", "negated.fixtures"]);
  const negated = [true, false].map((value) => ({
    name: `${value}`,
    inputs: { vpn: { observed: value } },
    result: { observed: !value },
  }));
  await writeFile(repository("features/negated.fixtures.json"), JSON.stringify({ cases: negated }));
  expect(await succeed("feature", "lock", repository())).toContain("2 features");
});

const countWith = (value: boolean | undefined): number => eventIds.filter((_, at) => isActive(at) === value).length;

it("two versions are compared over all events, and the sums agree", async () => {
  await succeed("feature", "propose", repository(), ...REASON);
  const versions = ["vpn_used@1", "vpn_used@2", "--purpose", "default", "--all"];
  const { events, undecided, cells } = await firstObjectOf("feature", "compare", ...versions);
  expect({ events, undecided }).toEqual({ events: EVENTS, undecided: 0 });
  const counted = (before: string, after: string, count: number) =>
    expect.objectContaining({ before, after, events: count }) as unknown;
  expect(cells).toEqual([
    counted("observed false", "observed true", countWith(false)),
    counted("observed true", "observed false", countWith(true)),
    counted("omitted", "omitted", countWith(undefined)),
  ]);
});

it("a backfill computes the adopted version for every event, and its balance is 0", async () => {
  await succeed("feature", "adopt", "vpn_used@2", "--purpose", "default", ...REASON);
  const { run_id } = await firstObjectOf("feature", "backfill", "start", "--purpose", "default", ...REASON);
  let status: Record<string, unknown> = {};
  await until(
    async () => {
      status = await firstObjectOf("feature", "backfill", "status", String(run_id));
      return status["state"] === "done";
    },
    fullRounds(10_000, 600_000),
  );
  expect(status).toMatchObject({ balance: { live: EVENTS, stored: EVENTS, missing: 0 } });
});

it("an export has the rows in the order of the labels, and with --clock known no value that was computed after its label's time", async () => {
  // The earliest label has a time some milliseconds before now. Every value must have been computed before this time,
  // so the test waits.
  await new Promise((resolve) => setTimeout(resolve, Math.ceil(LABELS / EVENTS)));
  const now = new Date().toISOString();
  // The labels are neither in the order of the events nor in the order of their ids.
  const labelled = Array.from({ length: LABELS }, (_, row) => (row * 7919) % EVENTS);
  const labels = async (name: string, time: string): Promise<string> => {
    // Labels of one event differ in their times.
    const timeOf = (row: number): string => new Date(Date.parse(time) - Math.floor(row / EVENTS)).toISOString();
    const rows = labelled.map((event, row) => `${eventIds[event]},${timeOf(row)},label ${row}`);
    await writeFile(path(name), ["event_id,label_time,label", ...rows, ""].join("\n"));
    return path(name);
  };
  const run = async (file: string, out: string) => {
    const wanted = ["--features", "vpn_used@2", "--purpose", "default", "--clock", "known", "--format", "parquet"];
    const given = ["--recipient", "fraud team", "--expires", "2999-01-31", "--out", path(out), ...REASON];
    const { export_id, file: written } = await firstObjectOf("export", "run", "--labels", file, ...wanted, ...given);
    const { buffer } = new Uint8Array(await readFile(path(out)));
    return { export_id, written, rows: await parquetReadObjects({ file: buffer }) };
  };
  const known = await labels("known.csv", now);
  const { export_id, written, rows } = await run(known, "known.parquet");
  const shown = rows.map(({ label, vpn_used__v2, vpn_used__v2__state }) => ({
    label: label as unknown,
    value: vpn_used__v2 as unknown,
    state: vpn_used__v2__state as unknown,
  }));
  expect(shown).toEqual(
    labelled.map((event, row) => {
      const value = isActive(event);
      const computed = value === undefined ? { value: null, state: "omitted" } : { value: !value, state: "observed" };
      return { label: `label ${row}`, ...computed };
    }),
  );
  const earlier = await run(await labels("earlier.csv", storedAt), "earlier.parquet");
  expect(new Set(earlier.rows.map((row) => row["vpn_used__v2__state"]))).toEqual(new Set(["no-row"]));
  const repeating = ["--labels", known, "--reason", "audit of the model", "--out", path("again.parquet")];
  const again = await firstObjectOf("export", "repeat", String(export_id), ...repeating);
  expect(again).toMatchObject({ same: true, sha256: (written as { readonly sha256: string }).sha256 });
  const kept = process.env["KEEP_EXPORT_IN"];
  if (kept === undefined) return;
  await copyFile(path("known.parquet"), join(kept, "known.parquet"));
  await writeFile(join(kept, "expected.json"), JSON.stringify(shown));
});
