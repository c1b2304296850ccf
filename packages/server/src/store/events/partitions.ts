import { Unavailable } from "../../base/ports.ts";
import type { PartitionRegistry, PartitionSecrets } from "../crypto/partition-secrets.ts";
import { asUnavailable, sqlState } from "../postgres/errors.ts";
import type { Executor, OwnerTransaction } from "../postgres/executor.ts";
import type { PartitionRange } from "./partition-slices.ts";
import { SQL_STATES } from "../postgres/sql-states.ts";
import { query, sql, type Statement } from "../postgres/statement.ts";

/** Maximum number of partitions of a purpose in memory. */
const MAX_KNOWN = 100;
/** Partitions that begin later than this time from now are not created in advance. A partition may cover a month. */
export const FARTHEST_MS = 8 * 86_400_000;

/** Number of partitions that are made in advance: at the start, and regularly. */
export const PARTITIONS_AHEAD = 7;
export const PREPARE_EVERY_MS = 3_600_000;

interface KnownPartition extends PartitionSecrets {
  readonly id: string;
  readonly from: number;
}

const ADD_PARTITION_SECRETS = sql(
  `update event_partition p set later_secrets = later_secrets || made.secret
      from unnest($1::uuid[], $2::uuid[]) made (id, secret) where p.partition_id = made.id`,
  ["uuid[]", "uuid[]"],
);

/**
 * Adds the id of a new secret to each of the given partitions, whose secrets were lost. The new secret is used from
 * then on; the id of the lost secret stays.
 * @param secrets ids of the new secrets, in the order of `partitions`.
 */
export async function addPartitionSecrets(
  executor: OwnerTransaction,
  partitions: readonly string[],
  secrets: readonly string[],
): Promise<void> {
  await query(executor, ADD_PARTITION_SECRETS, [partitions, secrets]);
}

const ensure = (ensuring: string): EnsureStatement =>
  sql(
    `select partition_id, (partition_id || later_secrets)::text[] as secrets,
        secret_created or later_secrets <> '{}' as created, extract(epoch from lower_bound)::float8 * 1000 as lower_ms,
        extract(epoch from upper_bound)::float8 * 1000 as upper_ms
      from ${ensuring}($1, $2)`,
    ["int4", "timestamptz"],
    { partition_id: "uuid", secrets: "text[]", created: "bool", lower_ms: "float8", upper_ms: "float8" },
  );

type EnsureStatement = Statement<
  readonly [purpose: number, at: string],
  {
    readonly partition_id: string;
    readonly secrets: string[];
    readonly created: boolean;
    readonly lower_ms: number;
    readonly upper_ms: number;
  }
>;

/** The statements on the partitions of one table. */
export interface PartitionedTable {
  readonly ensure: EnsureStatement;
  readonly recordCreated: Statement<readonly [secret: string], unknown>;
}

const EVENT_PARTITIONS: PartitionedTable = {
  ensure: ensure("ensure_event_partition"),
  recordCreated: sql("select record_created_secret($1)", ["uuid"]),
};

/** The partitions of feature values. */
export const FEATURE_VALUES: PartitionedTable = {
  ensure: ensure("ensure_feature_partition"),
  recordCreated: sql("select record_created_feature_secret($1)", ["uuid"]),
};

/**
 * Finds the partitions of `event` or of another table. A function of the owner creates a missing partition. `prepare`
 * creates partitions in advance, so that no request has to wait.
 */
export class Partitions implements PartitionRegistry {
  readonly #executor: Executor;
  readonly #table: PartitionedTable;
  readonly #known = new Map<number, KnownPartition[]>();
  /** Number of times that `clear` was called. */
  #generation = 0;

  constructor(executor: Executor, table = EVENT_PARTITIONS) {
    this.#executor = executor;
    this.#table = table;
  }

  find(purpose: number, at: number): PartitionSecrets | Promise<PartitionSecrets> {
    return this.#known.get(purpose)?.find(({ from, end }) => from <= at && at < end) ?? this.ensure(purpose, at);
  }

  /**
   * @throws Unavailable. Its code is partition-missing if no partition may be created for this time, because a clock
   * jumped.
   */
  async ensure(purpose: number, at: number): Promise<PartitionSecrets> {
    const generation = this.#generation;
    const { rows } = await query(this.#executor, this.#table.ensure, [purpose, new Date(at).toISOString()]).catch(
      (error: unknown) => {
        // guard(true): an event without a partition gets an answer that allows a retry
        if (sqlState(error) !== SQL_STATES.invalidParameterValue) throw asUnavailable(error);
        this.#forget(purpose, at);
        throw new Unavailable(
          `${(error as Error).message}: set the clocks of this host and of the database right. If they are right, one was ` +
            "ahead: events are stored again from the start of the next partition",
          { code: "partition-missing", cause: error },
        );
      },
    );
    const [row] = rows;
    if (!row) throw new Error("no partition was made");
    const { partition_id: id, secrets, created: wasCreated, lower_ms: from, upper_ms: end } = row;
    const [secret, lostSecrets] = [secrets.at(-1) ?? id, secrets.slice(0, -1)];
    const partition: KnownPartition = { id, secret, wasCreated, lostSecrets, from, end };
    if (generation !== this.#generation) return partition;
    const others = (this.#known.get(purpose) ?? []).filter((other) => other.id !== id);
    this.#known.set(purpose, [partition, ...others].slice(0, MAX_KNOWN));
    return partition;
  }

  async recordCreated(secret: string): Promise<void> {
    const generation = this.#generation;
    await query(this.#executor, this.#table.recordCreated, [secret]).catch((error: unknown) => {
      throw asUnavailable(error);
    });
    if (generation !== this.#generation) return;
    for (const [purpose, partitions] of this.#known) {
      const marked = partitions.map((one) => (one.secret === secret ? { ...one, wasCreated: true } : one));
      this.#known.set(purpose, marked);
    }
  }

  /**
   * Forgets all partitions, because the database may be another one or may have lost its last seconds, or because a
   * loss of secrets was accepted.
   */
  clear(): void {
    this.#generation++;
    this.#known.clear();
  }

  #forget(purpose: number, at: number): void {
    const others = this.#known.get(purpose)?.filter(({ from, end }) => at < from || end <= at) ?? [];
    this.#known.set(purpose, others);
  }

  /** Makes the current partition and the next `ahead` ones, except partitions that begin in more than eight days. */
  async prepare(purpose: number, now: number, ahead: number): Promise<void> {
    for (let count = 0, at = now; count <= ahead && at <= now + FARTHEST_MS; count++) {
      at = (await this.ensure(purpose, at)).end;
    }
  }
}

/**
 * Finds the first partition that a server should have made at the last preparation, and that is missing.
 * @returns when it begins, in milliseconds since the Unix epoch; now if events of now have none.
 */
export function firstMissing(partitions: readonly PartitionRange[], purpose: number, now: number): number | undefined {
  for (let count = 0, at = now; count < PARTITIONS_AHEAD && at <= now + FARTHEST_MS - PREPARE_EVERY_MS; count++) {
    const found = partitions.find((one) => one.purpose === purpose && one.lower_ms <= at && at < one.upper_ms);
    if (!found) return at;
    at = found.upper_ms;
  }
  return undefined;
}
