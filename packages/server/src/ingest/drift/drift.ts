import { type Departure, type FieldPath, jsonType } from "@device-risk-signals/contract/catalog/check";
import { CountWriter } from "../counters/count-writer.ts";
import { MAX_WALKED_MEMBERS } from "../counters/counted-text.ts";
import type { Clock, DriftLog, EventProbes, OnError } from "../../base/ports.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { query, sql } from "../../store/postgres/statement.ts";

const WRITE_EVERY_MS = 2_000;
/** Maximum number of rows of one SDK version. Further paths are counted under `*`. */
const MAX_PATHS = 500;
/** Maximum number of SDK versions. There is a limit because a version is a text that a client chose. */
const MAX_VERSIONS = 200;

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

/**
 * `MAX_PATHS` and `MAX_VERSIONS` apply across all servers and restarts. Servers that write at the same moment may
 * exceed them slightly.
 */
const WRITE_DRIFT = sql(
  `
  with reported as (
    select * from jsonb_to_recordset($1::jsonb) as r (path text, json_type text, platform text, sdk_version text, occurrences bigint)
  ), version as (
    select sdk_version, count(*) as paths from drift group by sdk_version
  ), by_version as (
    -- A new version is added only below the limit of versions.
    select t.path, t.json_type, t.platform, t.occurrences, case
        when v.paths is not null then sdk_version
        when (select count(*) from version)
          + dense_rank() over (partition by v.paths is null order by sdk_version) <= ${MAX_VERSIONS} then sdk_version
        else '*'
      end as sdk_version
    from reported t left join version v using (sdk_version)
  ), by_path as (
    -- A new row is added only below the limit of its version.
    select path, json_type, platform, sdk_version, b.occurrences, d.first_seen is not null or coalesce(v.paths, 0)
      + row_number() over (partition by sdk_version, d.first_seen is null order by path, json_type, platform) <= ${MAX_PATHS} as fits
    from by_version b left join version v using (sdk_version) left join drift d using (sdk_version, platform, path, json_type)
  )
  insert into drift (path, json_type, platform, sdk_version, first_seen, last_seen, occurrences)
    select case when fits then path else '*' end, case when fits then json_type else '*' end, platform, sdk_version,
      $2::timestamptz, $2::timestamptz, sum(occurrences)
    from by_path group by 1, 2, 3, 4 order by 4, 3, 1, 2
    on conflict (sdk_version, platform, path, json_type) do update set
      last_seen = greatest(drift.last_seen, excluded.last_seen),
      occurrences = drift.occurrences + excluded.occurrences`,
  ["jsonb", "timestamptz"],
);

/** What a request says about the SDK that sent it. */
type Sender = Parameters<DriftLog["observe"]>[0];

type SeenProbes = Pick<EventProbes, "departures" | "parsed">;

interface Count {
  readonly path: string;
  readonly jsonType: DriftJsonType;
  readonly platform: string;
  readonly sdkVersion: string;
  occurrences: number;
}

/**
 * Counts departures from the catalog: path, JSON type, platform, SDK version, never a value. Because names come from
 * clients, it keeps a limited number of well-formed names and counts all others under `*`.
 */
export class BufferedDriftLog implements DriftLog {
  readonly #executor: Executor;
  readonly #clock: Clock;
  readonly #writer: CountWriter<ReadonlyMap<string, Count>>;
  readonly #pathsOf = new Map<string, Set<string>>();
  #counts = new Map<string, Count>();

  constructor(executor: Executor, clock: Clock, onError: OnError) {
    this.#executor = executor;
    this.#clock = clock;
    this.#writer = new CountWriter({
      take: () => this.#take(),
      write: (counts) => this.#write(counts),
      keep: (counts) => {
        for (const count of counts.values()) {
          this.#count(count, count.path, count.jsonType, count.occurrences);
        }
      },
      everyMs: WRITE_EVERY_MS,
      onError,
      operation: "drift write",
    });
  }

  observe(sender: Sender, probes: SeenProbes, members: number): void {
    if (members > MAX_WALKED_MEMBERS) return this.#count(sender, "*", NOT_WALKED, 1);
    for (const { path, found } of seenIn(probes)) {
      this.#count(sender, textOf(path), found, 1);
    }
  }

  flush(): Promise<void> {
    return this.#writer.flush();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  #count({ platform, sdkVersion: said }: Sender, path: string, jsonType: DriftJsonType, occurrences: number): void {
    const sdkVersion = this.#keptVersion(said);
    const kept = this.#hasRoom(sdkVersion, `${platform}\n${path}\n${jsonType}`)
      ? { path, jsonType }
      : { path: "*", jsonType: "*" as const };
    const name = countIdOf({ ...kept, platform, sdkVersion });
    const count = this.#counts.get(name);
    if (count) count.occurrences += occurrences;
    else this.#counts.set(name, { ...kept, platform, sdkVersion, occurrences });
  }

  #keptVersion(said: string): string {
    const version = SDK_VERSION.test(said) ? said : "*";
    return this.#pathsOf.has(version) || this.#pathsOf.size < MAX_VERSIONS ? version : "*";
  }

  #hasRoom(sdkVersion: string, row: string): boolean {
    const known = this.#pathsOf.get(sdkVersion) ?? new Set();
    this.#pathsOf.set(sdkVersion, known);
    if (known.has(row)) return true;
    if (known.size >= MAX_PATHS) return false;
    known.add(row);
    return true;
  }

  #take(): ReadonlyMap<string, Count> | undefined {
    if (this.#counts.size === 0) return undefined;
    const counts = this.#counts;
    this.#counts = new Map();
    return counts;
  }

  async #write(counts: ReadonlyMap<string, Count>): Promise<void> {
    const now = new Date(this.#clock.now()).toISOString();
    const rows = [...counts.values()].toSorted((a, b) => (countIdOf(a) < countIdOf(b) ? -1 : 1));
    const json = rows.map(({ path, jsonType, platform, sdkVersion, occurrences }) => ({
      path,
      json_type: jsonType,
      platform,
      sdk_version: sdkVersion,
      occurrences,
    }));
    await query(this.#executor, WRITE_DRIFT, [JSON.stringify(json), now]);
  }
}

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

function countIdOf({ sdkVersion, platform, path, jsonType }: Omit<Count, "occurrences">): string {
  return `${sdkVersion}\n${platform}\n${path}\n${jsonType}`;
}

export interface DriftRow {
  readonly path: string;
  readonly json_type: string;
  readonly platform: string;
  readonly sdk_version: string;
  readonly first_seen: string;
  readonly last_seen: string;
  readonly occurrences: number;
}

const LIST_DRIFT = sql(
  `select path, json_type, platform, sdk_version, occurrences,
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
    first_seen: "text",
    last_seen: "text",
  },
);

export async function listDrift(executor: Executor): Promise<readonly DriftRow[]> {
  const { rows } = await query(executor, LIST_DRIFT);
  return rows;
}
