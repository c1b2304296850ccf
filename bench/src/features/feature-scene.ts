/** The database of the bench of features: full events, as ingestion stores them, and the starter features. */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type pg from "pg";
import { openSystem, type System } from "../../../packages/server/src/runtime/system.ts";
import { readConfig } from "../../../packages/server/src/base/config/config.ts";
import { PostgresEventStore } from "../../../packages/server/src/store/events/event-store.ts";
import { backfillNext } from "../../../packages/server/src/features/backfill.ts";
import { changeBackfill, startBackfill } from "../../../packages/server/src/features/backfill-runs.ts";
import type { LayerRunners } from "../../../packages/server/src/features/layer-runners.ts";
import { createParserOf } from "../../../packages/server/src/features/read-inputs.ts";
import { MAX_ATTEMPTS } from "../../../packages/server/src/ingest/append.ts";
import { uuidv7 } from "../../../packages/server/src/base/identifiers/uuidv7.ts";
import { readPolicyVersion } from "../../../packages/server/src/purposes/policy-table.ts";
import { inTransaction } from "../../../packages/server/src/store/postgres/database.ts";
import { fullEvent } from "../full-event.ts";
import { migrate, openScene, print } from "../scene.ts";

export const DRS_PATH = join(import.meta.dirname, "../../../packages/server/bin/drs.js");
const STARTER = join(import.meta.dirname, "../../../packages/features/src/starter");
const FEATURES = 25;
export const CONNECTIONS = 16;
export const REASON = ["--reason", "measured by the bench"];
const PURPOSE_OPTIONS = ["--purpose", "payments", ...REASON];

export interface FeatureScene {
  readonly owner: pg.Client;
  readonly system: System;
  /** The environment of the commands. */
  readonly env: NodeJS.ProcessEnv;
  /** Process id of PostgreSQL. */
  readonly postmaster: number;
  /** The starter features that are measured. */
  readonly names: readonly string[];
  /** Runs a command that prints one JSON object. */
  readonly drs: <Answer>(...args: readonly string[]) => Promise<Answer>;
  /** Stores full events of the last day as ingestion does, and also in the peers' table. */
  readonly fill: (count: number, accountOf: (event: number) => string) => Promise<void>;
  readonly adopt: (names: readonly string[]) => Promise<unknown>;
  readonly retire: (names: readonly string[]) => Promise<unknown>;
  /** @returns the id of the run. */
  readonly beginBackfill: () => Promise<string>;
  readonly cancelBackfill: (runId: string) => Promise<void>;
  /** Runs the backfills. As in a worker, keys leave the memory after a second. */
  readonly runBackfills: (runners: LayerRunners) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A database with as many events. The starter features are proposed and adopted. */
export async function openFeatureScene(events: number): Promise<FeatureScene> {
  const scene = await openScene();
  const owner = await scene.createDatabase("bench", "-c search_path=drs -c timezone=UTC");
  const environment = {
    ...scene.environmentOf("bench"),
    DRS_ERASURE_JOURNAL: join(scene.folder, "journal"),
    // The timeout is long, because a shared machine may be slow.
    DRS_DEPENDENCY_TIMEOUT: "60s",
  };
  const env = { ...process.env, ...environment };
  const drs = async <Answer>(...args: readonly string[]): Promise<Answer> => {
    const { stdout } = await promisify(execFile)(process.execPath, [DRS_PATH, ...args, "--json"], { env });
    return JSON.parse(stdout) as Answer;
  };
  await migrate(DRS_PATH, env);
  await applyPolicy(scene.folder, env);
  const { rows: codes } = await owner.query<{ code: number }>("select code from purpose where id = 'payments'");
  const purpose = codes[0]?.code ?? 0;

  const config = readConfig(environment, scene.folder);
  if (!config.ok) throw new Error(config.problems.join("\n"));
  const ports = { clock: Date, asServer: false, environment: process.env, onError: (): void => {} };
  const system = await openSystem(config.config, ports);
  await owner.query(`create table public.plain_event (id bigint generated always as identity primary key, event_id uuid,
    platform text, payload jsonb); grant insert, select on public.plain_event to public`);
  await fill(system, purpose, events, (event) => `account-${event % 1_000}`);
  print(`filled ${events} events`);

  await drs("feature", "propose", STARTER, ...REASON, "--break-glass");
  const { rows: versions } = await owner.query<{ name: string }>(
    "select id || '@' || version as name from feature_version order by id limit $1",
    [FEATURES],
  );
  const names = versions.map(({ name }) => name);
  const adopt = (some: readonly string[]): Promise<unknown> =>
    drs("feature", "adopt", ...some, ...PURPOSE_OPTIONS, "--accept-refusals", "--break-glass");
  await adopt(names);
  return {
    owner,
    system,
    env,
    postmaster: scene.postmaster,
    names,
    drs,
    fill: (count, accountOf) => fill(system, purpose, count, accountOf),
    adopt,
    retire: (some) => drs("feature", "retire", ...some, ...PURPOSE_OPTIONS),
    async beginBackfill() {
      const order = { runId: randomUUID(), purpose: { code: purpose, id: "payments" }, actor: "bench" };
      await inTransaction(system.pool, (transaction) =>
        startBackfill(transaction, { ...order, reason: "measured by the bench" }),
      );
      return order.runId;
    },
    cancelBackfill: (runId) =>
      inTransaction(system.pool, (transaction) => changeBackfill(transaction, runId, "cancelled")),
    runBackfills: (runners) => runBackfills(system, runners),
    async close() {
      await system.close();
      await owner.end();
      await scene.close();
    },
  };
}

async function applyPolicy(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const policy = join(folder, "policy.yaml");
  const texts = { title: "t", legal_basis: "l", owner: "o", raw_retention: "P90D", derived_retention: "P1Y" };
  const purposes = ["default", "payments"].map((id) => ({ ...texts, id }));
  await writeFile(policy, JSON.stringify({ purposes, actions: { payment: "payments" }, unmapped: "default" }));
  await promisify(execFile)(process.execPath, [DRS_PATH, "purpose", "apply", policy, "--yes"], { env });
}

async function fill(
  system: System,
  purpose: number,
  count: number,
  accountOf: (event: number) => string,
): Promise<void> {
  const { database, pool, partitions, pseudonymizer, accountKeys, sealer, audit } = system;
  const store = new PostgresEventStore({
    database,
    executor: pool,
    partitions,
    pseudonymizer,
    newLane: () => audit.lane(),
    canStore: () => true,
    onStale: () => accountKeys.refresh(),
    onConnectionLost: () => accountKeys.clear(),
    generation: () => accountKeys.generation,
    onError: () => {},
    onBatch: () => {},
  });
  const policyVersion = await readPolicyVersion(pool);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) {
      const receivedAt = Date.now() - 3_600_000 - n;
      const exact = Buffer.from(JSON.stringify(fullEvent(n, new Date(receivedAt))));
      const eventId = uuidv7(receivedAt);
      const attributes = {
        account: accountOf(n),
        purpose,
        idempotencyKey: randomUUID(),
        schemaVersion: 1,
      };
      const action = { actionId: `action-${n}`, actionType: "payment", sessionId: "session" };
      const versions = {
        eventType: "device_intel_collection",
        sdkVersion: "1.2.3",
        platform: "android",
        appVersion: "7.1.0",
      };
      const event = { ...attributes, ...action, ...versions, eventId, receivedAt };
      const collectedAt = { epochMs: receivedAt, micros: 0 };
      const requestMac = sealer.requestMac(eventId, exact);
      let outcome: Awaited<ReturnType<PostgresEventStore["append"]>> = "stale";
      // Each erasure makes events stale that were sealed before. They are sealed again, as the server does.
      for (let attempt = 0; attempt < MAX_ATTEMPTS && outcome === "stale"; attempt++) {
        const sealed = await sealer.seal(event, exact);
        outcome = await store.append({ ...event, policyVersion, collectedAt, requestMac, sealed });
      }
      if (outcome !== "stored") throw new Error("an event was not stored");
      await pool.query("insert into public.plain_event (event_id, platform, payload) values ($1, 'android', $2)", [
        eventId,
        exact.toString(),
      ]);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  await store.close();
}

async function runBackfills(system: System, runners: LayerRunners): Promise<void> {
  const forget = setInterval(() => {
    system.sealer.evictKeys(Date.now());
    system.featureSealer.forgetKeys();
  }, 1_000);
  const onError = (error: unknown): void => print(String(error));
  const ports = { ...system, runners, parserOf: createParserOf(onError), onError };
  while (await backfillNext(ports));
  clearInterval(forget);
}
