import { type Departure, type FieldPath, jsonType } from "@device-risk-signals/contract/catalog/check";
import { LimitedMap } from "../../base/caches/limited-map.ts";
import { CountWriter } from "../counters/count-writer.ts";
import { MAX_WALKED_MEMBERS } from "../counters/counted-text.ts";
import type { Clock, DriftLog, EventProbes, OnError } from "../../base/ports.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { query, sql } from "../../store/postgres/statement.ts";

const WRITE_EVERY_MS = 2_000;
/** Maximum number of rows of one SDK version. */
const MAX_PATHS = 500;
/** Maximum number of SDK versions. There is a limit because a version is a text that a client chose. */
const MAX_VERSIONS = 200;
/** Maximum number of rows that one event can add. */
const MAX_NEW_PATHS = 20;
const MAX_REMEMBERED_PATHS = 20_000;

/** JSON type in the row that counts events which were not walked; its path is `*`. */
const NOT_WALKED = "not-walked";

/** The JSON types in the table. Constraints of `drift` and `drift_decision` permit exactly these. */
export const DRIFT_JSON_TYPES = [
  "string",
  "number",
  "boolean",
  "null",
  "array",
  "object",
  "absent",
  NOT_WALKED,
  "*",
] as const;
type DriftJsonType = (typeof DRIFT_JSON_TYPES)[number];

const MEMBER_NAME = /^[A-Za-z0-9_]{1,64}$/;
const SDK_VERSION = /^[A-Za-z0-9_.+-]{1,32}$/;

const REPORTED = `jsonb_to_recordset($1::jsonb)
      as r (path text, json_type text, platform text, sdk_version text, occurrences bigint)`;

/**
 * Makes room for the reported rows: the versions and the paths that were seen longest ago give way. This rule needs no
 * trust in names or counts, and a field that events still have comes back with the next event. Rows that another server
 * writes at the same moment stay (their `ctid` changes). Therefore, the limits may be exceeded slightly until the next
 * write.
 */
const MAKE_ROOM = sql(
  `
  with reported as (
    select sdk_version, platform, path, json_type, 'infinity'::timestamptz as seen from ${REPORTED}
  ), version as (
    select sdk_version, max(seen) as seen, row_number() over (order by max(seen) desc, sdk_version) as rank
      from (select sdk_version, last_seen as seen from drift union all select sdk_version, seen from reported) both_seen
      group by sdk_version
  ), path as (
    select d.ctid as id, seen, row_number() over (partition by sdk_version order by coalesce(seen, last_seen) desc) as rank
      from reported full join (
        select ctid, * from drift where sdk_version in (select sdk_version from reported)
      ) d using (sdk_version, platform, path, json_type)
  ), old as (
    select id from path where rank > ${MAX_PATHS} and seen is null
    union all
    select ctid from drift
      where sdk_version in (select sdk_version from version where rank > ${MAX_VERSIONS} and seen < 'infinity')
  )
  delete from drift where ctid = any (array(
    select ctid from drift where ctid = any (array(select id from old)) for update skip locked))`,
  ["jsonb"],
);

/** Days of `daily`. */
const DAYS = 30;
/** Days in UTC since a row was seen; less than 0 if the clock was set back. */
const SINCE_SEEN = `((excluded.last_seen at time zone 'UTC')::date - (drift.last_seen at time zone 'UTC')::date)`;

const WRITE_DRIFT = sql(
  `
  insert into drift (path, json_type, platform, sdk_version, first_seen, last_seen, occurrences, daily)
    select path, json_type, platform, sdk_version, $2::timestamptz, $2::timestamptz, occurrences,
      array_fill(0::int8, array[${DAYS - 1}]) || occurrences
    from ${REPORTED} order by sdk_version, platform, path, json_type
    on conflict (sdk_version, platform, path, json_type) do update set
      last_seen = greatest(drift.last_seen, excluded.last_seen),
      occurrences = drift.occurrences + excluded.occurrences,
      daily = case when ${SINCE_SEEN} <= 0
        then drift.daily[1:${DAYS - 1}] || (drift.daily[${DAYS}] + excluded.occurrences)
        else drift.daily[1 + ${SINCE_SEEN}:${DAYS}]
          || array_fill(0::int8, array[least(${SINCE_SEEN}, ${DAYS}) - 1]) || excluded.occurrences end`,
  ["jsonb", "timestamptz"],
);

/** What a request says about the SDK that sent it. */
type Sender = Parameters<DriftLog["observe"]>[0];

type SeenProbes = Pick<EventProbes, "departures" | "parsed">;

/** A row by its key. */
interface Row {
  readonly path: string;
  readonly jsonType: DriftJsonType;
  readonly platform: string;
  readonly sdkVersion: string;
}

interface Count {
  readonly row: Row;
  occurrences: number;
}

/** Counts by the id of their rows, by SDK version. */
type Counts = Map<string, Map<string, Count>>;

/**
 * Counts departures from the catalog: path, JSON type, platform, SDK version, never a value. Because names come from
 * clients, it keeps a limited number of well-formed names and counts all others under `*`.
 */
export class BufferedDriftLog implements DriftLog {
  readonly #executor: Executor;
  readonly #clock: Clock;
  readonly #writer: CountWriter<Counts>;
  readonly #remembered = new LimitedMap<true>(MAX_REMEMBERED_PATHS);
  #counts: Counts = new Map();

  constructor(executor: Executor, clock: Clock, onError: OnError) {
    this.#executor = executor;
    this.#clock = clock;
    this.#writer = new CountWriter({
      take: () => this.#take(),
      write: (counts) => this.#write(counts),
      keep: (counts) => {
        for (const { row, occurrences } of listCounts(counts)) this.#count(row, occurrences);
      },
      everyMs: WRITE_EVERY_MS,
      onError,
      operation: "drift write",
    });
  }

  observe(sender: Sender, probes: SeenProbes, members: number): void {
    if (members > MAX_WALKED_MEMBERS) return this.#count(rowOf(sender, "*", NOT_WALKED), 1);
    let added = 0;
    for (const { path, found } of seenIn(probes)) {
      const row = rowOf(sender, textOf(path), found);
      const id = rowIdOf(row);
      // guard: the names of one event fill no version
      if (!this.#remembered.has(id) && ++added > MAX_NEW_PATHS) this.#count(unnamed(row), 1);
      else {
        this.#remembered.set(id, true);
        this.#count(row, 1);
      }
    }
  }

  flush(): Promise<void> {
    return this.#writer.flush();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  /** Adds to the count of a row. One write has no more rows than the table may have. */
  #count(row: Row, occurrences: number): void {
    const hasRoom = this.#counts.has(row.sdkVersion) || this.#counts.size < MAX_VERSIONS;
    const sdkVersion = hasRoom ? row.sdkVersion : "*";
    const counts = this.#counts.get(sdkVersion) ?? new Map<string, Count>();
    this.#counts.set(sdkVersion, counts);
    const named = { ...row, sdkVersion };
    const kept = counts.has(rowIdOf(named)) || counts.size < MAX_PATHS ? named : unnamed(named);
    const id = rowIdOf(kept);
    const count = counts.get(id);
    if (count) count.occurrences += occurrences;
    else counts.set(id, { row: kept, occurrences });
  }

  #take(): Counts | undefined {
    if (this.#counts.size === 0) return undefined;
    const counts = this.#counts;
    this.#counts = new Map();
    return counts;
  }

  async #write(counts: Counts): Promise<void> {
    const now = new Date(this.#clock.now()).toISOString();
    const json = JSON.stringify(
      listCounts(counts).map(({ row: { path, jsonType, platform, sdkVersion }, occurrences }) => ({
        path,
        json_type: jsonType,
        platform,
        sdk_version: sdkVersion,
        occurrences,
      })),
    );
    await query(this.#executor, MAKE_ROOM, [json]);
    await query(this.#executor, WRITE_DRIFT, [json, now]);
  }
}

const listCounts = (counts: Counts): readonly Count[] =>
  [...counts.values()].flatMap((ofVersion) => [...ofVersion.values()]);

const rowOf = ({ platform, sdkVersion }: Sender, path: string, jsonType: DriftJsonType): Row => ({
  path,
  jsonType,
  platform,
  sdkVersion: SDK_VERSION.test(sdkVersion) ? sdkVersion : "*",
});

const unnamed = (row: Row): Row => ({ ...row, path: "*", jsonType: "*" });

const rowIdOf = ({ sdkVersion, platform, path, jsonType }: Row): string =>
  `${sdkVersion}\n${platform}\n${path}\n${jsonType}`;

type Seen = Pick<Departure, "path" | "found">;

/**
 * The departures of an event, and what its unknown probes and unknown object fields contain. Each of these departs as a
 * whole, but a review needs the names and types of what a definition can read.
 */
function* seenIn(probes: SeenProbes): Iterable<Seen> {
  for (const departure of probes.departures()) {
    yield departure;
    const { kind, path } = departure;
    if (kind !== "unknown-probe" && kind !== "unknown-field") continue;
    const [probe = "", ...names] = path;
    const { data } = probes.parsed()[probe] as { readonly data?: unknown };
    const value = names.reduce((object, name) => (object as Readonly<Record<string, unknown>>)[name], data);
    yield* membersOf(path, value);
  }
}

/** Paths of accepted fields have at most this number of names: a probe, a field, a member. */
const MAX_NAMES = 3;

function* membersOf(parent: FieldPath, value: unknown): Iterable<Seen> {
  if (parent.length === MAX_NAMES || jsonType(value) !== "object") return;
  for (const [name, member] of Object.entries(value as object)) {
    const path = [...parent, name];
    yield { path, found: jsonType(member) };
    yield* membersOf(path, member);
  }
}

/** The stored form of a path. No kept name contains a `.`, so a text without `*` means exactly one path. */
function textOf(path: FieldPath): string {
  return path.map((name) => (MEMBER_NAME.test(name) ? name : "*")).join(".");
}

export interface DriftRow {
  readonly path: string;
  readonly json_type: string;
  readonly platform: string;
  readonly sdk_version: string;
  readonly first_seen: string;
  readonly last_seen: string;
  readonly occurrences: number;
  /** The events of 30 days in UTC, the last of which is the day of `last_seen`. */
  readonly daily: number[];
}

const LIST_DRIFT = sql(
  `select path, json_type, platform, sdk_version, occurrences, daily::float8[] as daily,
        ${instant("first_seen")},
        ${instant("last_seen")}
      from drift order by occurrences desc, sdk_version, platform, path, json_type`,
  [],
  {
    path: "text",
    json_type: "text",
    platform: "text",
    sdk_version: "text",
    occurrences: "int8",
    daily: "float8[]",
    first_seen: "text",
    last_seen: "text",
  },
);

export async function listDrift(executor: Executor): Promise<readonly DriftRow[]> {
  const { rows } = await query(executor, LIST_DRIFT);
  return rows;
}
