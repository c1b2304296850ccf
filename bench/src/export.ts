/**
 * `npm run bench:export`: measures exports of 25 features for training, and compares them with a peer that reads and
 * opens the event of one label at a time. Prints rows per second and the peak of the memory. `--rows N` labels (default
 * 100000) of `--accounts N` (default 10000), `--formats csv,jsonl,parquet`.
 */
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { parseArgs } from "node:util";
import { bundleOf } from "../../packages/features/src/bundle.fixture.ts";
import type { Result } from "../../packages/features/src/result.ts";
import { openSystem } from "../../packages/server/src/runtime/system.ts";
import { readConfig } from "../../packages/server/src/base/config/config.ts";
import { accountSecretName } from "../../packages/server/src/store/crypto/sealer.ts";
import { recordAdoption, listLayers, nameOf, recordProposal } from "../../packages/server/src/features/decisions.ts";
import { encodeFeatures } from "../../packages/server/src/features/feature-payload.ts";
import { findRowsAsOf } from "../../packages/server/src/features/feature-rows-as-of.ts";
import { insertFeatureRows, type NewFeatureRow } from "../../packages/server/src/features/feature-rows.ts";
import { openFeatures } from "../../packages/server/src/features/read-features.ts";
import { uuidv7 } from "../../packages/server/src/base/identifiers/uuidv7.ts";
import { inOwnerTransaction, inTransaction } from "../../packages/server/src/store/postgres/database.ts";
import { openScene, print } from "./scene.ts";
import { cpuOf, residentOf } from "./usage.ts";

const FEATURES = 25;
const DAYS = 2;
const DAY_MS = 86_400_000;
const BATCH_ROWS = 1_000;
const MEBIBYTE = 1_048_576;
const DRS_PATH = join(import.meta.dirname, "../../packages/server/bin/drs.js");

const { values: options } = parseArgs({
  options: {
    rows: { type: "string", default: "100000" },
    accounts: { type: "string", default: "10000" },
    formats: { type: "string", default: "parquet,csv,jsonl" },
  },
});
const ROWS = Number(options.rows);
const ACCOUNTS = Number(options.accounts);
/** Number of labels for the peer, and for the export that shows how the memory grows. */
const FEW_ROWS = Math.ceil(ROWS / 10);

const scene = await openScene();
const { folder } = scene;
const owner = await scene.createDatabase("bench", "-c search_path=drs -c timezone=UTC");
const environment = { ...scene.environmentOf("bench"), DRS_ERASURE_JOURNAL: join(folder, "journal") };
const config = readConfig(environment, folder);
if (!config.ok) throw new Error(config.problems.join("\n"));
const system = await openSystem(config.config, {
  clock: Date,
  asServer: false,
  environment: process.env,
  onError: () => {},
});

/** The events, and a label one second after each, are spread over the `DAYS` days before this time. */
const LAST_EVENT_AT = Date.now() - 60_000;
const names: string[] = [];
await inOwnerTransaction(system.administration, async (transaction) => {
  const decider = { actor: "bench", via: "direct", reason: "measured" } as const;
  const evidence = { days: 7, events: 0, is_limited: false, coverage: [], refused: [] };
  const bundles = Array.from({ length: FEATURES }, (_, index) =>
    bundleOf("() => null", {
      id: `feature_${index}`,
      purposes: ["default"],
      output: index % 3 === 0 ? { type: "flag" } : { type: "count", bins: [0, 1, 2] },
    }),
  );
  names.push(...bundles.map(({ manifest }) => nameOf(manifest)));
  await recordProposal(transaction, system.audit, bundles, evidence, decider);
  const purpose = { code: 1, id: "default" };
  await recordAdoption(transaction, system, { features: names, purpose, evidence, acceptsRefusals: false }, decider);
});
const layers = await listLayers(system.pool);
const members = layers[0]?.members ?? [];

/** The results of one event. Most are values; every seventh one is omitted. */
function resultsOf(event: number): readonly Result[] {
  return members.map((name, index): Result => {
    const inputs = ["observed", "observed"] as const;
    if ((event + index) % 7 === 0) return { state: "omitted", inputs: ["omitted:field-absent", "observed"] };
    const isFlag = Number(name.slice("feature_".length, -"@1".length)) % 3 === 0;
    return { state: "observed", inputs, value: isFlag ? (event + index) % 2 === 0 : (event * index) % 5 };
  });
}

async function fill(): Promise<void> {
  await owner.query(
    `insert into account_identity (account) select 'account-' || i from generate_series(0, ${ACCOUNTS - 1}) i`,
  );
  const { rows: keys } = await owner.query<{ key_id: string; account: string }>(
    `insert into account_key (key_id, account, purpose)
      select gen_random_uuid(), 'account-' || i, 1 from generate_series(0, ${ACCOUNTS - 1}) i returning key_id, account`,
  );
  const keyOf = new Map(keys.map(({ account, key_id }) => [account, key_id]));
  const todo = keys.values();
  const make = async (): Promise<void> => {
    for (const { key_id } of todo) await system.secrets.findOrCreate(accountSecretName(key_id));
  };
  await Promise.all(Array.from({ length: 16 }, make));
  const exact = Buffer.from("{}");
  for (let from = 0; from < ROWS; from += BATCH_ROWS) {
    const rows = Array.from({ length: Math.min(BATCH_ROWS, ROWS - from) }, (_, offset) => {
      const event = from + offset;
      const account = `account-${event % ACCOUNTS}`;
      const receivedAt = Math.floor(LAST_EVENT_AT - DAYS * DAY_MS + (event * DAYS * DAY_MS) / ROWS);
      const identity = { account, eventId: uuidv7(receivedAt), layer: 1, purpose: 1, receivedAt };
      const bytes = encodeFeatures(exact, resultsOf(event), 1, Buffer.alloc(16));
      return { event, identity, keyId: keyOf.get(account) ?? "", bytes };
    });
    const payloads = await system.featureSealer.sealMany(rows);
    const sealed = rows.map(({ event, identity, keyId }, index): NewFeatureRow => {
      const attributes = { actionType: "payment", platform: "android", sdkVersion: "1.0.0", appVersion: "" };
      const ids = { idempotencyKey: `key-${event}`, actionId: `action-${event}`, schemaVersion: 1 };
      return { ...identity, ...attributes, ...ids, keyId, payload: payloads[index] ?? Buffer.alloc(0) };
    });
    const column = (of: (row: NewFeatureRow) => unknown): unknown[] => sealed.map(of);
    await owner.query(
      `insert into idempotency_key (account, key, event_id, purpose, received_at, request_mac, key_id)
        select account, key, event_id, 1, received_at, ''::bytea, key_id
        from unnest($1::text[], $2::text[], $3::uuid[], $4::timestamptz[], $5::uuid[])
          as e (account, key, event_id, received_at, key_id)`,
      [
        column(({ account }) => account),
        column(({ idempotencyKey }) => idempotencyKey),
        column(({ eventId }) => eventId),
        column(({ receivedAt }) => new Date(receivedAt)),
        column(({ keyId }) => keyId),
      ],
    );
    await inTransaction(system.pool, (transaction) => insertFeatureRows(transaction, sealed));
  }
  await owner.query("analyze");
}

interface LabelOf {
  readonly account: string;
  readonly at: number;
}

/** The label at a row: one second after the event at that row, which is the newest event of its account then. */
const labelAt = (row: number): LabelOf => ({
  account: `account-${row % ACCOUNTS}`,
  at: Math.floor(LAST_EVENT_AT - DAYS * DAY_MS + (row * DAYS * DAY_MS) / ROWS) + 1_000,
});

async function writeLabels(path: string, rows: number): Promise<void> {
  const file = createWriteStream(path);
  file.write("account,label_time,label\n");
  for (let row = 0; row < rows; row++) {
    const { account, at } = labelAt(row);
    file.write(`${account},${new Date(at).toISOString()},${row % 50 === 0 ? "fraud" : "good"}\n`);
  }
  file.end();
  await finished(file);
}

interface Figures {
  readonly perSecond: number;
  /** CPU time per row in microseconds, of the command and of PostgreSQL. */
  readonly cpu: readonly [command: number, postgres: number];
  readonly peak: number;
}

/** Measures the whole command, from its start to its end. */
async function exportRows(rows: number, format: string): Promise<Figures> {
  const labels = join(folder, `labels-${rows}-${format}.csv`);
  await writeLabels(labels, rows);
  const out = join(folder, `out-${rows}.${format}`);
  const order = ["--features", names.join(","), "--purpose", "default", "--clock", "received", "--format", format];
  const person = ["--recipient", "bench", "--reason", "measured by the bench", "--expires", "2999-01-31"];
  const args = [DRS_PATH, "export", "run", "--labels", labels, "--out", out, ...order, ...person, "--json"];
  const started = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  let [peak, ownCpu] = [0, 0];
  const postgresCpu = cpuOf(scene.postmaster);
  const watch = setInterval(() => {
    if (child.pid === undefined || child.exitCode !== null) return;
    peak = Math.max(peak, residentOf(child.pid));
    ownCpu = cpuOf(child.pid);
  }, 50);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  clearInterval(watch);
  const manifest = JSON.parse(text) as { file: { rows: number }; empty_rows: number };
  if (code !== 0 || manifest.file.rows !== rows || manifest.empty_rows > 0) throw new Error("rows are missing");
  const seconds = (performance.now() - started) / 1_000;
  return { perSecond: rows / seconds, cpu: [ownCpu / rows, (cpuOf(scene.postmaster) - postgresCpu) / rows], peak };
}

/**
 * Measures the peer: for each label it runs one statement, opens one payload and writes one line. @returns rows per
 * second.
 */
async function rowsOfPeer(rows: number): Promise<number> {
  const out = createWriteStream(join(folder, "peer.jsonl"));
  const started = performance.now();
  for (let row = 0; row < rows; row++) {
    const { account, at } = labelAt(row);
    const subject = { kind: "account", account, at: { epochMs: at, micros: 0 } } as const;
    const scope = { purpose: 1, layers: [1], isKnown: false, watermark: new Date().toISOString() };
    const [stored] = (await findRowsAsOf(system.pool, [subject], scope)).get(0) ?? [];
    if (!stored) throw new Error("a row is missing");
    const opened = await openFeatures(system.featureSealer, layers, stored);
    const values = opened?.features.map(({ feature, state, value }) => [feature, state, value]);
    out.write(`${JSON.stringify({ account, at, values })}\n`);
  }
  out.end();
  await finished(out);
  return rows / ((performance.now() - started) / 1_000);
}

const megabytes = (bytes: number): string => `${Math.round(bytes / MEBIBYTE)} MB`;
const perSecond = (figure: number): string => `${Math.round(figure)} rows/s`;

const filling = performance.now();
await fill();
print(`filled in ${((performance.now() - filling) / 1_000).toFixed(0)} s`);
const lines: string[] = [];
for (const format of options.formats.split(",")) {
  const few = await exportRows(FEW_ROWS, format);
  const peer = await rowsOfPeer(FEW_ROWS);
  const all = await exportRows(ROWS, format);
  lines.push(
    `| ${format}: ${ROWS} rows | ${perSecond(all.perSecond)}, ${(all.perSecond / peer).toFixed(1)} × the peer | ≥ 10,000 rows/s |`,
    `| ${format}: CPU of the command and of PostgreSQL | ${all.cpu.map((of) => Math.round(of)).join(" and ")} µs/row | |`,
    `| ${format}: resident memory of ${FEW_ROWS} and ${ROWS} rows | ${megabytes(few.peak)}, ${megabytes(all.peak)} | ≤ 300 MB, flat |`,
  );
}
print(`\n${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}\n`);
print("| what | figure | goal |\n| --- | --- | --- |");
for (const line of lines) print(line);
await owner.end();
await system.close();
await scene.close();
