import { OUTCOME_ERRORS, type OUTCOME_STATUSES, PLATFORMS, SKIPPED_REASONS } from "@device-risk-signals/contract";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import { outcomeCode } from "@device-risk-signals/contract/catalog/outcomes";
import type { CountedEvent, EventProbes, OnError, OutcomeLog } from "../../base/ports.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { query, sql } from "../../store/postgres/statement.ts";
import { CountWriter } from "./count-writer.ts";
import { countedMajor, countedVersion, OTHER_TEXT, MAX_WALKED_MEMBERS } from "./counted-text.ts";
import { hourOf, hoursOf, type WrittenRow } from "./hours.ts";

const WRITE_EVERY_MS = 10_000;
/**
 * Maximum number of groups (platform, SDK version, OS version) for each hour. Further groups are counted under `other`.
 */
const MAX_GROUPS = 200;
/** Maximum number of groups in memory, over all hours, because the database may be down for hours. */
const MAX_GROUPS_IN_MEMORY = 1_000;

/** The states of a probe, never merged; a probe that is absent is `omitted`. */
export type OutcomeState = (typeof OUTCOME_STATUSES)[number] | "omitted";

interface Slot {
  readonly state: OutcomeState;
  /** Empty for states that have no reason. */
  readonly reason: string;
}

const slots = (state: OutcomeState, reasons: readonly string[]): Slot[] => reasons.map((reason) => ({ state, reason }));

/** The outcomes of a probe that are counted separately. */
const SLOTS: readonly Slot[] = [
  ...slots("success", [""]),
  ...slots("timeout", [""]),
  ...slots("omitted", [""]),
  ...slots("skipped", [...SKIPPED_REASONS, OTHER_TEXT]),
  ...slots("error", [...OUTCOME_ERRORS, OTHER_TEXT]),
];
const OMITTED_SLOT = SLOTS.findIndex(({ state }) => state === "omitted");

/** The slot for each code of an outcome. */
const SLOT_OF_CODE = new Uint8Array(256);
for (const [slot, { state, reason }] of SLOTS.entries()) {
  if (slot !== OMITTED_SLOT) SLOT_OF_CODE[outcomeCode({ status: state, reason, error: reason })] = slot;
}

const PROBES = CATALOG.map(({ id }) => id);
/** For each platform, whether each probe of `PROBES` exists on it. */
const PROBE_EXISTENCE = new Map<string, readonly boolean[]>(
  PLATFORMS.map((platform) => [platform, CATALOG.map(({ platforms }) => platforms.includes(platform))]),
);
/** The last name is for all probes that the catalog does not know. */
const COUNTED_PROBES = [...PROBES, OTHER_TEXT];

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

/** `MAX_GROUPS` applies over all servers and restarts. Servers that write at the same moment may exceed it slightly. */
const WRITE_OUTCOMES = sql(
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
    select hour, platform, case when fits then sdk_version else '${OTHER_TEXT}' end,
      case when fits then os_major else '${OTHER_TEXT}' end, probe, state, reason, sum(occurrences)
    from by_group group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, 7
    on conflict (hour, platform, sdk_version, os_major, probe, state, reason) do update set
      occurrences = probe_outcome.occurrences + excluded.occurrences`,
  ["jsonb", "timestamptz[]"],
);

/**
 * Counts the outcome of each probe of stored events, by hour. The counts contain words of the contract and the catalog,
 * the word `other`, and versions of the form that `counted-text.ts` permits. They contain no other text of an event.
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

  observe(
    { receivedAt, platform, sdkVersion }: CountedEvent,
    probes: Pick<EventProbes, "outcomes">,
    members: number,
  ): void {
    const { known, unknown, systemVersion } = probes.outcomes();
    const { counts } = this.#group({
      hour: hourOf(receivedAt),
      platform,
      sdkVersion: countedVersion(sdkVersion),
      osMajor: countedMajor(systemVersion),
    });
    const exists = PROBE_EXISTENCE.get(platform);
    for (let index = 0; index < PROBES.length; index++) {
      const code = known[index] as number;
      if (code !== 0) add(counts, index, SLOT_OF_CODE[code] as number, 1);
      else if (exists?.[index]) add(counts, index, OMITTED_SLOT, 1);
    }
    if (members > MAX_WALKED_MEMBERS) return;
    for (const code of unknown()) add(counts, PROBES.length, SLOT_OF_CODE[code] as number, 1);
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
    const isOther = named.sdkVersion === OTHER_TEXT && named.osMajor === OTHER_TEXT;
    if (this.#groups.size >= MAX_GROUPS_IN_MEMORY && !isOther) {
      return this.#group({ ...named, sdkVersion: OTHER_TEXT, osMajor: OTHER_TEXT });
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
    await query(this.#executor, WRITE_OUTCOMES, [JSON.stringify(rows), hoursOf(rows)]);
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
