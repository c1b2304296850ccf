import type { Rejection } from "@device-risk-signals/contract";
import type { Clock, OnError, RejectionCause, RejectionLog } from "../../base/ports.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { query, sql } from "../../store/postgres/statement.ts";
import { rulesOf } from "./broken-rules.ts";
import { CountWriter } from "./count-writer.ts";
import { countedVersion, OTHER_TEXT } from "./counted-text.ts";
import { hourOf, hoursOf } from "./hours.ts";

const WRITE_EVERY_MS = 10_000;
/** Maximum number of rows for each hour. Further rejections are counted by problem alone. */
const MAX_ROWS = 1_000;
/** Maximum number of rows in memory, over all hours, because the database may be down for hours. */
const MAX_ROWS_IN_MEMORY = 5_000;
const ANY_PLACE = "*";

interface Count {
  /** Milliseconds since the Unix epoch. */
  readonly hour: number;
  readonly problem: string;
  /** A violation, or the cause of a problem that names none; empty if it has no cause, either. */
  readonly violation: string;
  /** Empty for the whole request. */
  readonly place: string;
  /** Empty if the SDK version is not known. */
  readonly sdkVersion: string;
  occurrences: number;
}

const nameOf = ({ hour, problem, violation, place, sdkVersion }: Count): string =>
  `${hour} ${problem} ${violation} ${place} ${sdkVersion}`;

/** `MAX_ROWS` applies over all servers and restarts. Servers that write at the same moment may exceed it slightly. */
const WRITE_REJECTIONS = sql(
  `
  with reported as (
    select * from jsonb_to_recordset($1::jsonb)
      as r (hour timestamptz, problem text, violation text, place text, sdk_version text, occurrences bigint)
  ), existing as (
    select hour, problem, violation, place, sdk_version from rejection where hour = any ($2)
  ), by_row as (
    -- A new row is added only below the limit of its hour.
    select r.*, e.hour is not null or (select count(*) from existing x where x.hour = r.hour)
      + row_number() over (partition by r.hour, e.hour is null order by problem, violation, place, sdk_version)
        <= ${MAX_ROWS} as fits
    from reported r left join existing e using (hour, problem, violation, place, sdk_version)
  )
  insert into rejection (hour, problem, violation, place, sdk_version, occurrences)
    select hour, problem, case when fits then violation else '${OTHER_TEXT}' end,
      case when fits then place else '${ANY_PLACE}' end, case when fits then sdk_version else '${OTHER_TEXT}' end,
      sum(occurrences)
    from by_row group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    on conflict (hour, problem, violation, place, sdk_version) do update set
      occurrences = rejection.occurrences + excluded.occurrences`,
  ["jsonb", "timestamptz[]"],
);

/**
 * Counts rejected requests by hour, problem, violation, place and SDK version. A request counts once in each row that it
 * belongs to. A place has only names of the contract and the catalog.
 */
export class BufferedRejectionLog implements RejectionLog {
  readonly #executor: Executor;
  readonly #clock: Clock;
  readonly #writer: CountWriter<ReadonlyMap<string, Count>>;
  #counts = new Map<string, Count>();

  constructor(executor: Executor, clock: Clock, onError: OnError) {
    this.#executor = executor;
    this.#clock = clock;
    this.#writer = new CountWriter({
      take: () => this.#take(),
      write: (counts) => this.#write(counts),
      keep: (counts) => {
        for (const count of counts.values()) this.#add(count);
      },
      everyMs: WRITE_EVERY_MS,
      onError,
      operation: "rejection write",
    });
  }

  count(rejection: Rejection, sdkVersion: string | undefined, cause: RejectionCause | "" = ""): void {
    const about = {
      hour: hourOf(this.#clock.now()),
      problem: rejection.code,
      sdkVersion: sdkVersion === undefined ? "" : countedVersion(sdkVersion),
      occurrences: 1,
    };
    for (const { violation, place } of rulesOf(rejection)) {
      this.#add({ ...about, violation: violation || cause, place });
    }
  }

  flush(): Promise<void> {
    return this.#writer.flush();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  #add(count: Count): void {
    const existing = this.#counts.get(nameOf(count));
    if (existing) existing.occurrences += count.occurrences;
    else if (this.#counts.size < MAX_ROWS_IN_MEMORY || count.place === ANY_PLACE) {
      this.#counts.set(nameOf(count), { ...count });
    } else this.#add({ ...count, violation: OTHER_TEXT, place: ANY_PLACE, sdkVersion: OTHER_TEXT });
  }

  #take(): ReadonlyMap<string, Count> | undefined {
    if (this.#counts.size === 0) return undefined;
    const counts = this.#counts;
    this.#counts = new Map();
    return counts;
  }

  async #write(counts: ReadonlyMap<string, Count>): Promise<void> {
    const rows = [...counts.values()].map(({ hour, problem, violation, place, sdkVersion, occurrences }) => {
      return { hour: new Date(hour).toISOString(), problem, violation, place, sdk_version: sdkVersion, occurrences };
    });
    await query(this.#executor, WRITE_REJECTIONS, [JSON.stringify(rows), hoursOf(rows)]);
  }
}
