/**
 * The two peers: workers with an id cursor over plain events. They compute with the same programs, and store the values
 * in a table of their own.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Result } from "@device-risk-signals/features";
import { readEvent } from "@device-risk-signals/features/readings";
import type { FeatureRunner } from "@device-risk-signals/features/runner";
import type pg from "pg";
import { parseEvent } from "../../../packages/server/src/features/parse-event.ts";
import { inTransaction } from "../../../packages/server/src/store/postgres/database.ts";

/** Number of events that the batched peer stores with one statement. */
const BATCH_EVENTS = 500;
/** Number of events for the first peer, which is slow because it needs a statement for each value. */
const FIRST_PEER_EVENTS = 100;
const WRITERS = 4;
const EVENTS_OF_WRITER = 100;
/** Number of events that are committed while `eventsLostByCursor` counts. */
export const COMMITTED_EVENTS = WRITERS * EVENTS_OF_WRITER;

interface PlainEvent {
  readonly id: string;
  readonly event_id: string;
  readonly payload: unknown;
}

const READ_NEXT_EVENTS = "select id, event_id, payload from public.plain_event where id > $1 order by id limit $2";

async function computed(runner: FeatureRunner, events: readonly PlainEvent[]): Promise<readonly (readonly Result[])[]> {
  const parsed = events.map(({ payload }) => parseEvent("android", Buffer.from(JSON.stringify(payload))));
  return (await runner.run(parsed.map((event) => readEvent(event ?? { platform: "android", probes: {} })))).events;
}

const valueOf = (result: Result): string | null => (result.state === "observed" ? JSON.stringify(result.value) : null);

const VALUE_TABLE = `create table public.feature_value (event_id uuid, feature text, state text, value jsonb,
  extracted_at timestamptz default now(), primary key (event_id, feature))`;

/** The first peer: it has an id cursor, and needs a statement for each value. @returns events per second. */
export async function firstPeer(owner: pg.Client, runner: FeatureRunner, names: readonly string[]): Promise<number> {
  await owner.query(`drop table if exists public.feature_value; ${VALUE_TABLE}`);
  const started = performance.now();
  let [cursor, events] = ["0", 0];
  while (events < FIRST_PEER_EVENTS) {
    const { rows: page } = await owner.query<PlainEvent>(READ_NEXT_EVENTS, [cursor, 100]);
    const results = await computed(runner, page);
    for (const [index, { event_id }] of page.entries()) {
      for (const [place, result] of (results[index] ?? []).entries()) {
        await owner.query(
          "insert into public.feature_value (event_id, feature, state, value) values ($1, $2, $3, $4)",
          [event_id, names[place], result.state, valueOf(result)],
        );
      }
    }
    cursor = page.at(-1)?.id ?? cursor;
    events += page.length;
  }
  return events / ((performance.now() - started) / 1_000);
}

/**
 * The second peer: it stores the values of 500 events with one statement. @returns events per second, and bytes per
 * event.
 */
export async function secondPeer(
  owner: pg.Client,
  runner: FeatureRunner,
  names: readonly string[],
): Promise<readonly [number, number]> {
  await owner.query(`drop table if exists public.feature_value; ${VALUE_TABLE}`);
  const started = performance.now();
  let events = 0;
  for (let cursor = "0"; ;) {
    const { rows: page } = await owner.query<PlainEvent>(READ_NEXT_EVENTS, [cursor, BATCH_EVENTS]);
    if (page.length === 0) break;
    const values = (await computed(runner, page)).flatMap((results, index) =>
      results.map((result, place) => [page[index]?.event_id, names[place], result.state, valueOf(result)] as const),
    );
    await owner.query(
      `insert into public.feature_value (event_id, feature, state, value)
        select * from unnest($1::uuid[], $2::text[], $3::text[], $4::jsonb[])`,
      [0, 1, 2, 3].map((column) => values.map((value) => value[column])),
    );
    cursor = page.at(-1)?.id ?? cursor;
    events += page.length;
  }
  const seconds = (performance.now() - started) / 1_000;
  const { rows: size } = await owner.query<{ bytes: string }>(
    "select pg_total_relation_size('public.feature_value') as bytes",
  );
  return [events / seconds, Number(size[0]?.bytes) / events];
}

/**
 * Counts the committed events that an id cursor such as that of the peers never reads. An event with a lower id may be
 * committed later than an event with a higher id, when the cursor is already past the lower id.
 */
export async function eventsLostByCursor(owner: pg.Client, pool: pg.Pool): Promise<number> {
  await owner.query(`create table public.committed_event (id bigint generated always as identity primary key);
    grant insert on public.committed_event to public`);
  const writer = async (): Promise<void> => {
    for (let event = 0; event < EVENTS_OF_WRITER; event++) {
      await inTransaction(pool, async (transaction) => {
        await transaction.query("insert into public.committed_event default values");
        await sleep(Math.random() * 10);
      });
    }
  };
  let isWriting = true;
  const writing = Promise.all(Array.from({ length: WRITERS }, writer)).finally(() => (isWriting = false));
  let [cursor, read] = ["0", 0];
  for (let isLast = false; !isLast;) {
    isLast = !isWriting;
    const { rows: page } = await owner.query<{ id: string }>(
      "select id from public.committed_event where id > $1 order by id",
      [cursor],
    );
    cursor = page.at(-1)?.id ?? cursor;
    read += page.length;
    await sleep(1);
  }
  await writing;
  return COMMITTED_EVENTS - read;
}
