/**
 * `npm run bench:accounts`: seals and stores events of known accounts and of new ones alternately, in batches of 64 on
 * two connections, with the key store in PostgreSQL and in a folder. `--seconds N` of a measurement (default 1),
 * `--rounds N` (default 15), `--server DIR` (another checkout, measured in the same run, alternately).
 */
import { randomBytes, randomUUID } from "node:crypto";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type * as Parties from "../../e2e/support/parties.ts";
import type * as Append from "../../packages/server/src/ingest/append.ts";
import type * as EventStores from "../../packages/server/src/store/events/event-store.ts";
import type * as NewEvents from "../../packages/server/src/store/events/new-event.fixture.ts";
import { fullEvent } from "./full-event.ts";
import { median } from "./median.ts";
import { migrate, openScene, print } from "./scene.ts";

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "1" },
    rounds: { type: "string", default: "15" },
    server: { type: "string" },
  },
});
const [SECONDS, ROUNDS] = [Number(options.seconds), Number(options.rounds)];
const BATCH = 64;
/** Two batches are committed, each on a connection of its own, while two others are prepared. */
const BATCHES_AT_ONCE = 4;
const PURPOSE = { code: 1, policyVersion: 0, beyond: "record", mapped: true } as const;
const KEY_STORES = ["PostgreSQL", "folder"] as const;
const BODIES = Array.from({ length: 200 }, (_, seed) => Buffer.from(JSON.stringify(fullEvent(seed, new Date()))));
const HERE = join(import.meta.dirname, "../..");

/** The parts of a checkout that the bench calls. */
async function modulesOf(folder: string) {
  const server = join(folder, "packages/server/src");
  const { append } = (await import(join(server, "ingest/append.ts"))) as typeof Append;
  const { PostgresEventStore } = (await import(join(server, "store/events/event-store.ts"))) as typeof EventStores;
  const { newEvent } = (await import(join(server, "store/events/new-event.fixture.ts"))) as typeof NewEvents;
  const { openTestSystem } = (await import(join(folder, "e2e/support/parties.ts"))) as typeof Parties;
  return { append, PostgresEventStore, newEvent, openTestSystem };
}

const scene = await openScene();

interface Subject {
  /** @returns the number of events in a second. */
  readonly measure: (nameAccount: (caller: number, index: number) => string) => Promise<number>;
  readonly close: () => Promise<void>;
}

/** A checkout with its own database and key store. */
async function openSubject(name: string, folder: string, keyStore: (typeof KEY_STORES)[number]): Promise<Subject> {
  const { append, PostgresEventStore, newEvent, openTestSystem } = await modulesOf(folder);
  const database = `${name}_${keyStore.toLowerCase()}`;
  await (await scene.createDatabase(database)).end();
  const { DRS_KEY_DIR = "", ...shared } = scene.environmentOf(database);
  const inFolder = { ...shared, DRS_KEY_DIR };
  const inDatabase = { ...shared, DRS_KEY_DATABASE_URL: scene.url(`${database}_keys`) };
  if (keyStore === "PostgreSQL") await (await scene.createDatabase(`${database}_keys`)).end();
  const environment = keyStore === "PostgreSQL" ? inDatabase : inFolder;
  await migrate(join(folder, "packages/server/bin/drs.js"), { ...process.env, ...environment });
  const system = await openTestSystem(environment);
  const { accountKeys, partitions, pool, pseudonymizer, sealer } = system;
  await partitions.ensure(PURPOSE.code, Date.now());
  const store = new PostgresEventStore({
    database: system.database,
    executor: pool,
    partitions,
    pseudonymizer,
    newLane: () => system.audit.lane(),
    canStore: () => true,
    onStale: () => accountKeys.refresh(),
    onConnectionLost: () => {},
    generation: () => accountKeys.generation,
    onError: (error) => print(String(error)),
    onBatch: () => {},
  });
  const assigned = { purpose: PURPOSE, beyondPurpose: false };
  const ports = { store, sealer, accounts: accountKeys, assign: () => assigned };
  const storeOne = async (account: string, body: Buffer): Promise<void> => {
    const {
      sealed: _,
      purpose: _purpose,
      policyVersion: _version,
      ...event
    } = newEvent({
      account,
      actionId: `action-${randomBytes(12).toString("hex")}`,
      idempotencyKey: randomUUID(),
    });
    const requestMac = sealer.requestMac(event.eventId, body);
    const outcome = await append({ ...event, requestMac }, assigned, body, ports);
    if (!("stored" in outcome)) throw new Error(`not stored: ${JSON.stringify(outcome)}`);
  };
  return {
    async measure(nameAccount) {
      const started = performance.now();
      let stored = 0;
      const storeBatches = async (caller: number): Promise<void> => {
        while (performance.now() < started + SECONDS * 1_000) {
          const batch = Array.from({ length: BATCH }, (_, index) =>
            storeOne(nameAccount(caller, index), BODIES[(stored + index) % BODIES.length] as Buffer),
          );
          await Promise.all(batch);
          stored += BATCH;
        }
      };
      await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, (_, caller) => storeBatches(caller)));
      return stored / ((performance.now() - started) / 1_000);
    },
    async close() {
      await store.close();
      await system.close();
    },
  };
}

const checkouts = { here: HERE, ...(options.server !== undefined && { other: resolve(options.server) }) };
print(`medians of ${ROUNDS} rounds of ${SECONDS} s, events a second\n`);
print("| key store | checkout | known accounts | new accounts | new ÷ known |\n| --- | --- | --- | --- | --- |");
for (const keyStore of KEY_STORES) {
  const measured = [];
  for (const [name, folder] of Object.entries(checkouts)) {
    const subject = await openSubject(name, folder, keyStore);
    measured.push({ name, subject, known: [] as number[], made: [] as number[], ratios: [] as number[] });
  }
  // The first round makes each database allocate pages and compile its statements, which are no cost of later events.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { subject, known, made, ratios } of measured) {
      const ofKnown = await subject.measure((caller, index) => `known-${caller}-${index}`);
      const ofNew = await subject.measure(() => `new-${randomUUID()}`);
      if (round === 0) continue;
      known.push(ofKnown);
      made.push(ofNew);
      ratios.push(ofNew / ofKnown);
    }
  }
  for (const { name, subject, known, made, ratios } of measured) {
    const figures = [median(known).toFixed(0), median(made).toFixed(0), median(ratios).toFixed(2)];
    print(`| ${keyStore} | ${name} | ${figures.join(" | ")} |`);
    await subject.close();
  }
}
await scene.close();
process.exit(0);
