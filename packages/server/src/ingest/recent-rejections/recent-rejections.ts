/** Keeps the latest rejected requests, for people who look why. Nothing of them is a value that a client sent. */
import { sourceOf } from "../../base/identifiers/source-address.ts";
import { LimitedMap } from "../../base/caches/limited-map.ts";
import type { KeyEpoch, MonotonicClock, OnError, RecentRejectionLog, RejectedRequestDetail } from "../../base/ports.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { query, sql } from "../../store/postgres/statement.ts";
import { CountWriter } from "../counters/count-writer.ts";
import { countedVersion } from "../counters/counted-text.ts";
import { rulesOf } from "../counters/broken-rules.ts";

const WRITE_EVERY_MS = 1_000;
/** Maximum number of rows that wait to be written; then the oldest is dropped. */
const MAX_BUFFERED = 500;
/** Maximum number of rows of an account in one write, and of a source address without an account in a day. */
const MAX_OF_SENDER = 20;
const DAY_MS = 86_400_000;
/** Maximum number of source addresses in memory. */
const MAX_SOURCES = 10_000;
/** Maximum number of broken rules of one request that are kept. */
const MAX_RULES = 5;

interface Row {
  /** By the monotonic clock. */
  readonly at: number;
  readonly known_erasure: number;
  readonly account: string | undefined;
  readonly problem: string;
  readonly cause: string | undefined;
  readonly sdk_version: string | undefined;
  readonly violations: readonly string[];
  readonly places: readonly string[];
  readonly more: boolean;
}

const RECORD = sql("select record_recent_rejections($1)", ["jsonb"]);

export interface RecentRejectionOptions {
  readonly executor: Executor;
  readonly monotonic: MonotonicClock;
  /** The erasures that this server knows. */
  readonly keyEpoch: () => KeyEpoch;
  readonly onError: OnError;
}

export class BufferedRecentRejections implements RecentRejectionLog {
  readonly #options: RecentRejectionOptions;
  readonly #writer: CountWriter<readonly Row[]>;
  /** Times of the rows of each source address in the last day. */
  readonly #sources = new LimitedMap<readonly number[]>(MAX_SOURCES);
  #rows: Row[] = [];
  #ofAccount = new Map<string, number>();

  constructor(options: RecentRejectionOptions) {
    this.#options = options;
    this.#writer = new CountWriter({
      take: () => this.#take(),
      write: (rows) => this.#write(rows),
      keep: (rows) => {
        for (const row of rows) this.#add(row);
      },
      everyMs: WRITE_EVERY_MS,
      onError: options.onError,
      operation: "recent rejection write",
    });
  }

  add({ rejection, cause, sdkVersion, account, peer }: RejectedRequestDetail): void {
    const at = this.#options.monotonic.now();
    // guard(false): a sender who is rejected again and again costs a look into a map
    if (account === undefined ? !this.#admits(sourceOf(peer), at) : this.#isFullFor(account)) return;
    const all = rulesOf(rejection, MAX_RULES + 1);
    const rules = all.slice(0, MAX_RULES);
    this.#add({
      at,
      known_erasure: this.#options.keyEpoch().erasure,
      account,
      problem: rejection.code,
      cause,
      sdk_version: sdkVersion === undefined ? undefined : countedVersion(sdkVersion),
      violations: rules.map(({ violation }) => violation),
      places: rules.map(({ place }) => place),
      more: all.length > MAX_RULES,
    });
  }

  flush(): Promise<void> {
    return this.#writer.flush();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  #admits(source: string, now: number): boolean {
    const times = this.#sources.get(source) ?? [];
    const [oldest = now] = times;
    const isFull = times.length === MAX_OF_SENDER;
    // guard(false): a source address has 20 rows a day
    if (isFull && now - oldest < DAY_MS) return false;
    this.#sources.set(source, [...(isFull ? times.slice(1) : times), now]);
    return true;
  }

  #isFullFor(account: string): boolean {
    return (this.#ofAccount.get(account) ?? 0) >= MAX_OF_SENDER;
  }

  #add(row: Row): void {
    // guard(drop): the rows in memory are limited
    if (this.#rows.length === MAX_BUFFERED) this.#count(this.#rows.shift()?.account, -1);
    this.#rows.push(row);
    this.#count(row.account, 1);
  }

  #count(account: string | undefined, change: number): void {
    if (account === undefined) return;
    const rows = (this.#ofAccount.get(account) ?? 0) + change;
    if (rows === 0) this.#ofAccount.delete(account);
    else this.#ofAccount.set(account, rows);
  }

  #take(): readonly Row[] | undefined {
    if (this.#rows.length === 0) return undefined;
    const rows = this.#rows;
    this.#rows = [];
    this.#ofAccount = new Map();
    return rows;
  }

  async #write(rows: readonly Row[]): Promise<void> {
    const now = this.#options.monotonic.now();
    const aged = rows.map(({ at, ...row }) => ({ ...row, age_ms: Math.round(now - at) }));
    await query(this.#options.executor, RECORD, [JSON.stringify(aged)]);
  }
}
