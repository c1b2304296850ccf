import type { Executor } from "../../postgres/database.ts";
import type { ErasureKind } from "../../journal/journal.ts";
import { instant } from "../../postgres/instant.ts";

export interface ErasureRow {
  readonly sequence: number;
  readonly erasure_id: string;
  readonly kind: ErasureKind;
  /** Keyed MAC of what was erased, in hexadecimal. */
  readonly subject_mac: string | null;
  readonly began_at: string;
  readonly finished_at: string | null;
  /** When the last copy that a hold kept of it was deleted; `null` where no hold kept a copy, or one still exists. */
  readonly completed_at: string | null;
  readonly actor: string;
  readonly reason: string;
  readonly events: number;
  readonly idempotency_keys: number;
  readonly tokens: number;
  readonly actions: number;
  /** Events that a hold kept when it began, and those that one still keeps. */
  readonly held: number;
  readonly still_held: number;
  /** Copies whose hold has ended: the next retention pass deletes them. */
  readonly released: number;
  /** Copies of holds that went with it, whose keys may open copies of others. */
  readonly copies: number;
  /** Events under a hold that could not be opened, and so not be copied: they went. */
  readonly unreadable: number;
  /** Ids of the secrets that were destroyed. */
  readonly destroyed_keys: readonly string[];
}

export interface ErasureFilter {
  readonly subjectMacs?: readonly Buffer[];
  readonly sequence?: number;
  readonly erasureId?: string;
  readonly unfinished?: boolean;
  /** Erasures of which a hold kept copies that are all deleted now. */
  readonly waitedForHold?: boolean;
}

const copiesOf = (condition: string): string =>
  `(select count(*) from held_event c where c.erased_by = e.sequence and ${condition})`;

/** Newest first. */
export async function findErasures(executor: Executor, filter: ErasureFilter = {}): Promise<readonly ErasureRow[]> {
  const { rows } = await executor.query<ErasureRow>(
    `select sequence, erasure_id, kind, encode(subject_mac, 'hex') as subject_mac, ${instant("began_at")}, ${instant("finished_at")}, ${instant("completed_at")},
        actor, reason, events, idempotency_keys, tokens, actions, held, copies, unreadable,
        ${copiesOf("is_held(c.account, c.action_id, c.event_id)")} as still_held,
        ${copiesOf("not is_held(c.account, c.action_id, c.event_id)")} as released, keys::text[] as destroyed_keys
      from erasure e
      where ($1::bytea[] is null or subject_mac = any ($1)) and ($2::bigint is null or sequence = $2)
        and ($3::boolean is false or finished_at is null) and ($4::uuid is null or erasure_id = $4)
        and ($5::boolean is false or (finished_at is not null and held > 0 and completed_at is null
          and not exists (select from held_event c where c.erased_by = e.sequence)))
      order by sequence desc`,
    [
      filter.subjectMacs ?? null,
      filter.sequence ?? null,
      filter.unfinished ?? false,
      filter.erasureId ?? null,
      filter.waitedForHold ?? false,
    ],
  );
  return rows;
}

/** The receipt that was signed when it was finished, or when the last copy that a hold kept of it was deleted. */
export async function receiptOf(executor: Executor, sequence: number): Promise<string | undefined> {
  const text = "select coalesce(final_receipt, receipt) as receipt from erasure where sequence = $1";
  return (await executor.query<{ receipt: string | null }>(text, [sequence])).rows[0]?.receipt ?? undefined;
}

/** The same by the id of an erasure or of a retention pass. */
export async function findReceipt(executor: Executor, id: string): Promise<string | undefined> {
  const text = `select coalesce(final_receipt, receipt) as receipt from erasure where erasure_id = $1 and receipt is not null
    union all select receipt from retention_run where run_id = $1 and receipt is not null`;
  return (await executor.query<{ receipt: string }>(text, [id])).rows[0]?.receipt;
}
