/**
 * `npm run bench:audit`: measures `drs audit verify` of a database, `drs audit export`, and `drs audit verify` of the
 * export. Each runs as a separate process. Prints a line for each figure as soon as it is measured. `--entries N`
 * (default 1,000,000). Filling the database ends after `--fill-seconds N` (default 150), even if it has fewer entries;
 * the goal is then scaled to their number. `--folder DIR` keeps the entries, and a later run continues with them.
 */
import { spawn } from "node:child_process";
import { readdir, rm } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkpointNow } from "../../packages/server/src/runtime/audit-log.ts";
import { openSystem } from "../../packages/server/src/runtime/system.ts";
import type { Lane } from "../../packages/server/src/store/audit-record/lane.ts";
import { ACCEPTED, INGESTION } from "../../packages/server/src/store/audit-record/surfaces.ts";
import { readConfig } from "../../packages/server/src/base/config/config.ts";
import { uuidv7 } from "../../packages/server/src/base/identifiers/uuidv7.ts";
import { byteaArray, timestamptzArray, uuidArray } from "../../packages/server/src/store/postgres/binary-array.ts";
import { figureLine, HEAD, openScene, print } from "./scene.ts";
import { cpuOf, residentOf } from "./usage.ts";

const DRS_PATH = join(import.meta.dirname, "../../packages/server/bin/drs.js");
const ENTRIES_PER_STATEMENT = 5_000;
/** Number of entries between two passes of the sequencer. */
const ENTRIES_PER_PASS = 25_000;
const LANES = 4;
const MEBIBYTE = 1_048_576;
const SAMPLE_INTERVAL_MS = 100;
/**
 * Goals: at most this many seconds for a million entries; and at most this quotient of the memory peaks in the last and
 * in the first quarter of a run, so that memory does not grow with the number of entries.
 */
const [MAX_SECONDS_PER_MILLION, MAX_MEMORY_GROWTH] = [30, 1.1];
const MILLION = 1_000_000;

const { values: options } = parseArgs({
  options: {
    entries: { type: "string", default: "1000000" },
    "fill-seconds": { type: "string", default: "150" },
    folder: { type: "string" },
  },
});
const ENTRIES = Number(options.entries);

const scene = await openScene(options.folder);
const owner = await scene.createDatabase("bench", "-c search_path=drs -c timezone=UTC");
const environment = { ...scene.environmentOf("bench"), DRS_ERASURE_JOURNAL: join(scene.folder, "journal") };

const INSERT = `insert into audit_entry (entry_id, at, actor, via, operation, outcome, occurrences, subjects, event_ids,
    record, mac, lane, lane_number)
  select e.id, e.at, '${INGESTION.actor}', '${INGESTION.via}', '${INGESTION.operation}', '${ACCEPTED}', 2,
    array[e.subject, e.subject], array[e.event, e.event], e.record, e.mac, e.lane, e.number
  from unnest($1::uuid[], $2::timestamptz[], $3::bytea[], $4::uuid[], $5::bytea[], $6::bytea[], $7::uuid[], $8::int8[])
    as e (id, at, subject, event, record, mac, lane, number)`;

async function insertEntries(lanes: readonly Lane[], count: number): Promise<void> {
  const at = Date.now();
  const entries = lanes.flatMap((lane) => {
    const signed = lane.sign(
      Array.from({ length: count / lanes.length }, (_, index) => {
        const [subject, event] = [Buffer.alloc(16, index), uuidv7(at)];
        const both = { subjects: [subject, subject], eventIds: [event, event] };
        return { ...INGESTION, ...both, entryId: uuidv7(at), at, outcome: ACCEPTED, occurrences: 2 };
      }),
    );
    lane.acknowledge();
    return signed;
  });
  const records = entries.map(({ record }) => record);
  await owner.query(INSERT, [
    uuidArray(records.map(({ entryId }) => entryId)),
    timestamptzArray(records.map(() => ({ epochMs: at }))),
    byteaArray(records.map(({ subjects }) => subjects?.[0] ?? Buffer.alloc(16))),
    uuidArray(records.map(({ eventIds }) => eventIds?.[0] ?? "")),
    byteaArray(entries.map(({ bytes }) => bytes)),
    byteaArray(entries.map(({ mac }) => mac)),
    uuidArray(records.map(({ place }) => place?.lane ?? "")),
    records.map(({ place }) => place?.number ?? 0),
  ]);
}

const countLeaves = async (): Promise<number> =>
  Number((await owner.query<{ count: string }>("select count(*) from audit_leaf")).rows[0]?.count);

/** Inserts entries until the log has enough of them or the time is over. @returns the number of entries of the log. */
async function fillLog(): Promise<number> {
  const config = readConfig(environment, scene.folder);
  if (!config.ok) throw new Error(config.problems.join("\n"));
  const ports = { clock: Date, asServer: false, environment: process.env, onError: (): void => {} };
  const system = await openSystem(config.config, ports);
  await owner.query("set synchronous_commit = off");
  const lanes = Array.from({ length: LANES }, () => system.audit.lane());
  const until = Date.now() + Number(options["fill-seconds"]) * 1_000;
  let filled = await countLeaves();
  while (filled < ENTRIES && Date.now() < until) {
    const passSize = Math.min(ENTRIES_PER_PASS, ENTRIES - filled);
    for (let inserted = 0; inserted < passSize; inserted += ENTRIES_PER_STATEMENT) {
      await insertEntries(lanes, Math.min(ENTRIES_PER_STATEMENT, passSize - inserted));
    }
    await checkpointNow(system);
    filled = await countLeaves();
  }
  await owner.query("analyze");
  await system.close();
  return filled;
}

interface Run {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Resident memory at each sample, in bytes. */
  readonly memory: readonly number[];
}

/** Runs a command to its end. @throws if it fails. */
async function runAuditCommand(...args: readonly string[]): Promise<Run> {
  const started = performance.now();
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, [DRS_PATH, "audit", ...args], { env, stdio: ["ignore", "ignore", "inherit"] });
  const pid = child.pid ?? 0;
  const memory: number[] = [];
  let cpu = 0;
  const timer = setInterval(() => {
    try {
      memory.push(residentOf(pid));
      cpu = cpuOf(pid);
    } catch {
      clearInterval(timer);
    }
  }, SAMPLE_INTERVAL_MS);
  const code = await new Promise((resolve) => child.once("close", resolve));
  clearInterval(timer);
  if (code !== 0) throw new Error(`drs audit ${args.join(" ")}: exit ${String(code)}`);
  return { seconds: (performance.now() - started) / 1_000, cpuSeconds: cpu / 1e6, memory };
}

const peakInMebibytes = (samples: readonly number[]): number => Math.max(...samples) / MEBIBYTE;

function printFigures(what: string, entries: number, { seconds, cpuSeconds, memory }: Run): void {
  const quarter = Math.ceil(memory.length / 4);
  const [early, late] = [peakInMebibytes(memory.slice(0, quarter)), peakInMebibytes(memory.slice(-quarter))];
  const goal = Math.max(1, Math.round((MAX_SECONDS_PER_MILLION * entries) / MILLION));
  print(figureLine(`${what}, ${entries} entries (${cpuSeconds.toFixed(1)} s of CPU)`, seconds, "s", goal));
  const peaks = `${early.toFixed(0)} and ${late.toFixed(0)} MiB`;
  print(figureLine(`${what}, memory at the end ÷ at the start (${peaks})`, late / early, "×", MAX_MEMORY_GROWTH));
}

/** @returns the path of the latest checkpoint in the journal's folder. */
async function checkpointPath(): Promise<string> {
  const folder = join(scene.folder, "journal", "audit-checkpoints");
  return join(folder, (await readdir(folder)).toSorted().at(-1) ?? "");
}

try {
  const started = performance.now();
  const entries = await fillLog();
  print(`filled ${entries} of ${ENTRIES} entries, in ${((performance.now() - started) / 1_000).toFixed(0)} s`);
  print(`\n${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}\n`);
  print(HEAD);
  printFigures("verification of the database", entries, await runAuditCommand("verify", "--json"));
  const file = join(scene.folder, "audit.ndjson");
  await rm(file, { force: true });
  const { seconds } = await runAuditCommand("export", "--out", file);
  printFigures(
    "verification of an export",
    entries,
    await runAuditCommand("verify", file, "--checkpoint", await checkpointPath()),
  );
  print(`\nThe export took ${seconds.toFixed(1)} s.`);
} finally {
  await owner.end();
  await scene.close();
}
