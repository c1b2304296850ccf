import { OUTCOME_ERRORS, type OUTCOME_STATUSES, PLATFORMS, SKIPPED_REASONS } from "@device-risk-signals/contract";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { CountedEvent, OnError, OutcomeLog } from "../ports.ts";
import type { Executor } from "../postgres/executor.ts";
import { query, sql } from "../postgres/statement.ts";
import { CountWriter } from "./count-writer.ts";
import { countedMajor, countedVersion, OTHER, WIDEST } from "./counted-text.ts";
import { hourOf, hoursOf, type WrittenRow } from "./hours.ts";

const WRITE_EVERY_MS = 10_000;
/** Maximum number of groups (platform, SDK version, OS version) of an hour; further ones are counted under `other`. */
const MAX_GROUPS = 200;
/** Maximum number of groups in memory, of all hours: the database may be away for hours. */
const MAX_GROUPS_IN_MEMORY = 1_000;

/** The states of a probe, never merged; a probe that is absent is `omitted`. */
export type OutcomeState = (typeof OUTCOME_STATUSES)[number] | "omitted";

interface Slot {
  readonly state: OutcomeState;
  /** Empty for states without one. */
  readonly reason: string;
}

const slots = (state: OutcomeState, reasons: readonly string[]): Slot[] => reasons.map((reason) => ({ state, reason }));

/** What can be counted of one probe. */
const SLOTS: readonly Slot[] = [
  ...slots("success", [""]),
  ...slots("timeout", [""]),
  ...slots("omitted", [""]),
  ...slots("skipped", [...SKIPPED_REASONS, OTHER]),
  ...slots("error", [...OUTCOME_ERRORS, OTHER]),
];
const SUCCESS = 0;
const TIMEOUT = 1;
const OMITTED = 2;

function indexOf(state: OutcomeState): ReadonlyMap<unknown, number> {
  return new Map(SLOTS.flatMap((slot, index) => (slot.state === state ? [[slot.reason, index]] : [])));
}

const SKIPPED = indexOf("skipped");
const ERROR = indexOf("error");

const PROBES = CATALOG.map(({ id }) => id);
/** Whether a probe exists on a platform, in the order of `PROBES`. */
const EXISTS = new Map<string, readonly boolean[]>(
  PLATFORMS.map((platform) => [platform, CATALOG.map(({ platforms }) => platforms.includes(platform))]),
);
const IS_KNOWN = new Set(PROBES);
/** Unknown probes are counted behind the catalog's. */
const COUNTED_PROBES = [...PROBES, OTHER];

type Outcomes = Readonly<Record<string, unknown>>;
type Outcome = { readonly status: string; readonly reason?: unknown; readonly error?: unknown };

/** @param outcome of an event that passed `validateTransportRequest`. */
function slotOf({ status, reason, error }: Outcome): number {
  switch (status) {
    case "success":
      return SUCCESS;
    case "timeout":
      return TIMEOUT;
    case "skipped":
      return SKIPPED.get(reason) ?? (SKIPPED.get(OTHER) as number);
    default:
      return ERROR.get(error) ?? (ERROR.get(OTHER) as number);
  }
}

interface Group {
  /** Milliseconds since the Unix epoch. */
  readonly hour: number;
  readonly platform: string;
  readonly sdkVersion: string;
  readonly osMajor: string;
  /** Numbers of outcomes, by probe, then by slot. */
  readonly counts: Float64Array;
}

const nameOf = ({ hour, platform, sdkVersion, osMajor }: Omit<Group, "counts">): string =>
  `${hour} ${platform} ${sdkVersion} ${osMajor}`;

/** The cap holds over all servers and restarts; servers that write at the same moment may pass it by a little. */
const WRITE = sql(
  `
  with reported as (
    select * from jsonb_to_recordset($1::jsonb) as r (hour timestamptz, platform text, sdk_version text, os_major text,
      probe text, state text, reason text, occurrences bigint)
  ), existing as (
    select distinct hour, platform, sdk_version, os_major from probe_outcome where hour = any ($2)
  ), by_group as (
    -- A new group is added only below the limit of its hour.
    select r.*, e.hour is not null or (select count(*) from existing x where x.hour = r.hour)
      + dense_rank() over (partition by r.hour, e.hour is null order by platform, sdk_version, os_major)
        <= ${MAX_GROUPS} as fits
    from reported r left join existing e using (hour, platform, sdk_version, os_major)
  )
  insert into probe_outcome (hour, platform, sdk_version, os_major, probe, state, reason, occurrences)
    select hour, platform, case when fits then sdk_version else '${OTHER}' end,
      case when fits then os_major else '${OTHER}' end, probe, state, reason, sum(occurrences)
    from by_group group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, 7
    on conflict (hour, platform, sdk_version, os_major, probe, state, reason) do update set
      occurrences = probe_outcome.occurrences + excluded.occurrences`,
  ["jsonb", "timestamptz[]"],
);

/**
 * Counts the outcome of each probe of stored events, by hour. Everything that is counted is a word of the contract, the
 * catalog or this file, or a version of numbers: no other text of an event, and no value.
 */
export class BufferedOutcomeLog implements OutcomeLog {
  readonly #executor: Executor;
  readonly #writer: CountWriter<ReadonlyMap<string, Group>>;
  #groups = new Map<string, Group>();

  constructor(executor: Executor, onError: OnError) {
    this.#executor = executor;
    this.#writer = new CountWriter({
      take: () => this.#take(),
      write: (groups) => this.#write(groups),
      keep: (groups) => this.#keep(groups),
      everyMs: WRITE_EVERY_MS,
      onError,
      operation: "outcome write",
    });
  }

  observe({ receivedAt, platform, sdkVersion }: CountedEvent, probes: Outcomes, members: number): void {
    const identity = probes["device_identity"] as { readonly data?: Outcomes } | undefined;
    const { counts } = this.#group({
      hour: hourOf(receivedAt),
      platform,
      sdkVersion: countedVersion(sdkVersion),
      osMajor: countedMajor(identity?.data?.["systemVersion"]),
    });
    const exists = EXISTS.get(platform);
    let known = 0;
    for (let index = 0; index < PROBES.length; index++) {
      const outcome = probes[PROBES[index] as string] as Outcome | undefined;
      if (outcome) {
        known++;
        add(counts, index, slotOf(outcome), 1);
      } else if (exists?.[index]) add(counts, index, OMITTED, 1);
    }
    if (members > WIDEST || Object.keys(probes).length === known) return;
    for (const id in probes) {
      if (!IS_KNOWN.has(id)) add(counts, PROBES.length, slotOf(probes[id] as Outcome), 1);
    }
  }

  flush(): Promise<void> {
    return this.#writer.flush();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  #group(named: Omit<Group, "counts">): Group {
    const existing = this.#groups.get(nameOf(named));
    if (existing) return existing;
    const isOther = named.sdkVersion === OTHER && named.osMajor === OTHER;
    if (this.#groups.size >= MAX_GROUPS_IN_MEMORY && !isOther) {
      return this.#group({ ...named, sdkVersion: OTHER, osMajor: OTHER });
    }
    const group = { ...named, counts: new Float64Array(COUNTED_PROBES.length * SLOTS.length) };
    this.#groups.set(nameOf(named), group);
    return group;
  }

  #take(): ReadonlyMap<string, Group> | undefined {
    if (this.#groups.size === 0) return undefined;
    const groups = this.#groups;
    this.#groups = new Map();
    return groups;
  }

  async #write(groups: ReadonlyMap<string, Group>): Promise<void> {
    const rows = [...groups.values()].flatMap(rowsOf);
    await query(this.#executor, WRITE, [JSON.stringify(rows), hoursOf(rows)]);
  }

  #keep(groups: ReadonlyMap<string, Group>): void {
    for (const group of groups.values()) {
      const { counts } = this.#group(group);
      for (const [at, count] of group.counts.entries()) counts[at] = (counts[at] ?? 0) + count;
    }
  }
}

function add(counts: Float64Array, probe: number, slot: number, count: number): void {
  const at = probe * SLOTS.length + slot;
  counts[at] = (counts[at] ?? 0) + count;
}

function rowsOf({ hour, platform, sdkVersion, osMajor, counts }: Group): WrittenRow[] {
  const group = { hour: new Date(hour).toISOString(), platform, sdk_version: sdkVersion, os_major: osMajor };
  return COUNTED_PROBES.flatMap((probe, index) =>
    SLOTS.flatMap((slot, at) => {
      const occurrences = counts[index * SLOTS.length + at] ?? 0;
      return occurrences > 0 ? [{ ...group, probe, ...slot, occurrences }] : [];
    }),
  );
}
