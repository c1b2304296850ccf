/**
 * `npm run bench:bytes`: measures the bytes that an event adds to the database, by table and index, for each generator
 * of events, and compares them with deflate; then prints the figures of `store/capacity/measured.ts` again. Sizes do not
 * depend on the load of the machine. `--events N` (default 4,000), `--server DIR` (the server of another checkout, where
 * `npm ci` has run; not for the last part).
 */
import { execFile, spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";
import type pg from "pg";
import {
  type MeasuredLoad,
  measureLoad,
  sealedSamples,
} from "../../packages/server/src/store/capacity/measured-load.fixture.ts";
import { deflatedBytes, type Generator, GENERATORS } from "./generators.ts";
import { load, migrate, openScene, print, printed, READY } from "./scene.ts";

const run = promisify(execFile);
const CONNECTIONS = 64;
const RATE = 500;

const { values: options } = parseArgs({
  options: {
    events: { type: "string", default: "4000" },
    server: { type: "string", default: join(import.meta.dirname, "../..") },
  },
});
const SECONDS = Number(options.events) / RATE;
const drs = join(resolve(options.server), "packages/server/bin/drs.js");

/**
 * @returns the sizes in bytes of all tables, TOAST tables and indexes, by name. The partitions of `event` are added up.
 */
async function readSizes(client: pg.Client): Promise<ReadonlyMap<string, number>> {
  const { rows } = await client.query<{ name: string; bytes: string }>(
    `with one as (
        select c.oid, case when c.relname ~ '^event_[0-9]' then 'event' else c.relname::text end as name, c.reltoastrelid
        from pg_class c where c.relnamespace = 'drs'::regnamespace and c.relkind = 'r')
      select name, sum(bytes) as bytes from (
        select name, pg_relation_size(oid) + pg_relation_size(oid, 'fsm') + pg_relation_size(oid, 'vm') as bytes from one
        union all select name || ', TOAST', pg_total_relation_size(reltoastrelid) from one where reltoastrelid <> 0
        union all select name || ', index ' || array_to_string(array(select a.attname from pg_attribute a
            where a.attrelid = i.indexrelid order by a.attnum), ', '), pg_relation_size(i.indexrelid)
          from one join pg_index i on i.indrelid = one.oid) parts (name, bytes)
      group by name`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

const scene = await openScene();

async function measure(generator: Generator): Promise<void> {
  const client = await scene.createDatabase(`${generator}_events`);
  const env = { ...process.env, ...scene.environmentOf(`${generator}_events`) };
  await migrate(drs, env);
  const issue = ["token", "issue", "--account", "bench", "--ttl", "24h", "--json"];
  const { token } = JSON.parse((await run(process.execPath, [drs, ...issue], { env })).stdout) as { token: string };
  const actionId = "act_1";
  const register = ["action", "register", "--account", "bench", "--type", "payment", "--id", actionId, "--ttl", "24h"];
  await run(process.execPath, [drs, ...register], { env });
  const server = spawn(process.execPath, [drs, "serve"], { env, stdio: ["ignore", "pipe", "inherit"] });
  const url = await printed(server, READY);
  const send = (seconds: number): Promise<{ stored: number }> =>
    load({ url, token, actionId, connections: CONNECTIONS, seconds, rate: RATE, generator });
  // The first events make PostgreSQL allocate the first pages of each table, which are no cost of later events.
  await send(1);
  const before = await readSizes(client);
  const { stored } = await send(SECONDS);
  const after = await readSizes(client);
  server.removeAllListeners("exit");
  const ended = new Promise((done) => server.once("exit", done));
  server.kill("SIGTERM");
  await ended;
  const { rows } = await client.query<{ bytes: string; batch: string }>(
    `select avg(octet_length(payload)) as bytes, (select avg(cardinality(event_ids)) from drs.audit_entry) as batch
      from drs.event where payload is not null`,
  );
  printSizes(generator, stored, before, after, Number(rows[0]?.bytes));
  print(`\n${Number(rows[0]?.batch).toFixed(2)} events in a commit batch, at ${RATE} a second`);
}

function printSizes(
  generator: Generator,
  stored: number,
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  payload: number,
): void {
  const growth = [...after]
    .map(([name, bytes]) => [name, (bytes - (before.get(name) ?? 0)) / stored] as const)
    .filter(([, bytes]) => bytes >= 1)
    .toSorted(([, a], [, b]) => b - a);
  const total = growth.reduce((sum, [, bytes]) => sum + bytes, 0);
  const deflated = deflatedBytes(generator);
  print(`\n${generator}: ${stored} events\n\n| part | bytes per event |\n| --- | --- |`);
  for (const [name, bytes] of growth) print(`| ${name} | ${bytes.toFixed(0)} |`);
  print(`| all | ${total.toFixed(0)} |`);
  print(`| sealed payload alone | ${payload.toFixed(0)} |`);
  print(`| deflate with the catalog's names | ${deflated.toFixed(0)} |`);
  print(`| all ÷ deflate | ${(total / deflated).toFixed(3)} |`);
}

const LEDGER_ROWS = 300_000;
const EVENTS = 12_800;
const BATCH = 64;

/** Measures the figures of `measured.ts` by loads that differ in one thing. */
async function printMeasured(): Promise<void> {
  const loaded = async (name: string, batch: number, events: number, ledgerRows = 0, compression = "off") => {
    const client = await scene.createDatabase(name);
    const environment = scene.environmentOf(name);
    await migrate(drs, { ...process.env, ...environment });
    await client.query(`alter database ${name} set wal_compression = ${compression}`);
    return measureLoad(environment, { events, batch, ledgerRows, probes: 1 });
  };
  const one = await loaded("one", 1, 8_000);
  const many = await loaded("many", BATCH, EVENTS);
  const whole = await loaded("whole", BATCH, EVENTS, LEDGER_ROWS);
  const compressed = await loaded("compressed", BATCH, EVENTS, LEDGER_ROWS, "pglz");
  const fit = (of: (load: MeasuredLoad) => number) => {
    const batch = (of(one) - of(many)) / (1 - 1 / BATCH);
    return { event: Math.round(of(many) - batch / BATCH), batch: Math.round(batch) };
  };
  const pages = (LEDGER_ROWS * many.keyIndex) / 8_192;
  const changed = (pages * (1 - Math.exp(-EVENTS / pages))) / EVENTS;
  const [few, all] = [await sealedSamples(0.2), await sealedSamples(1)];
  const sealed = ({ payloads }: typeof few): number =>
    payloads.reduce((sum, { length }) => sum + length, 0) / payloads.length;
  const share = (sealed(all) - sealed(few)) / (all.eventBytes - few.eventBytes);
  const figures = {
    payload: { fixed: Math.round(sealed(all) - share * all.eventBytes), share: Number(share.toFixed(3)) },
    row: Math.round(many.row),
    eventIndexes: fit((load) => load.eventIndexes),
    ledgerTable: fit((load) => load.ledgerTable),
    ledgerIndexes: fit((load) => load.ledgerIndexes),
    auditTable: fit((load) => load.auditTable),
    auditIndexes: fit((load) => load.auditIndexes),
    wal: fit((load) => load.wal - load.payload),
    actionIndex: Math.round(many.actionIndex),
    keyIndex: Math.round(many.keyIndex),
    indexPage: {
      whole: Math.round((whole.wal - many.wal) / changed),
      compressed: Math.round((compressed.wal - many.wal) / changed),
    },
    vacuumed: Number((many.vacuumWal / (many.data + many.ledgerTable + many.auditTable)).toFixed(2)),
  };
  print(`\nmeasured.ts:\n${JSON.stringify(figures, undefined, 2)}`);
}

for (const generator of Object.keys(GENERATORS) as Generator[]) await measure(generator);
await printMeasured();
await scene.close();
process.exit(0);
