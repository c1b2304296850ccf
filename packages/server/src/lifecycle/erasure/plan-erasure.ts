import { findKeyIds } from "../../store/accounts/accounts.ts";
import { countActions } from "../../ingest/actions/action-table.ts";
import { findExportsToRecall } from "../../features/exports/export-table.ts";
import { countDerivedOnly } from "../../features/derived-only.ts";
import { countFeatures } from "../../features/erase-features.ts";
import { countTokens } from "../../ingest/sessions/opaque-tokens.ts";
import type { Pseudonymizer } from "../../store/crypto/pseudonymizer.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import {
  countByHoldState,
  type EventSubject,
  SUBJECT_CONDITIONS,
  subjectValues,
} from "../../store/events/search-events.ts";
import { queryComposed, sql, type Statement } from "../../store/postgres/statement.ts";

/**
 * The subject of an erasure. The subject is one purpose of an account if, for example, the consent to this purpose was
 * withdrawn.
 */
export type ErasureSubject = EventSubject;

/** Lists the subjects of erasures that concern an account: the account as a whole, and each of its purposes. */
export function accountSubjects(account: string, purposes: ReadonlyMap<number, string>): readonly ErasureSubject[] {
  const under = [...purposes.keys()].map((purpose) => ({ kind: "purpose", account, purpose }) as const);
  return [{ kind: "account", account }, ...under];
}

/** The keyed MAC of a subject. A caller who can name the subject finds its erasure again by this MAC. */
export function subjectMac(pseudonymizer: Pseudonymizer, subject: ErasureSubject): Buffer {
  switch (subject.kind) {
    case "account":
      return pseudonymizer.subjectOf("account", subject.account);
    case "purpose":
      return pseudonymizer.subjectOf("purpose", subject.account, String(subject.purpose));
    case "action":
      return pseudonymizer.subjectOf("action", subject.actionId);
    case "event":
      return pseudonymizer.subjectOf("event", subject.eventId);
  }
}

/** Numbers of items that an erasure would delete, or that holds would keep. */
export interface ErasurePlan {
  /** Events that no hold covers, including events that exist only as a held copy. The erasure deletes them. */
  readonly events: number;
  /** Events that a hold covers. They are deleted when the last hold ends. */
  readonly held: number;
  /** Copies of events that were erased before and that a hold still keeps. */
  readonly still_held: number;
  /** Copies of events that were erased before and whose hold has ended. The next retention pass deletes them. */
  readonly released: number;
  readonly idempotency_keys: number;
  readonly tokens: number;
  readonly actions: number;
  /** Secrets under which the subject's events are sealed. The erasure destroys them. */
  readonly keys: number;
  /** Rows of feature values, including those of events that have expired. */
  readonly features: number;
  /** Events that have expired, and of which only feature values are left. */
  readonly derived_only: number;
  /**
   * Exports that contain rows of the subject which were not recalled yet. The erasure opens a recall for each of these
   * exports, and the recipient must then delete the rows.
   */
  readonly exports: readonly { readonly export_id: string; readonly recipient: string; readonly rows: number }[];
}

const countKeys = (kind: "account" | "purpose" | "event"): Statement<readonly unknown[], { keys: number }> => {
  const { where, parameters } = SUBJECT_CONDITIONS[kind];
  const text = `select count(*) as keys from idempotency_key i where ${where} and not is_account_key_erased(i.key_id)`;
  return sql(text, parameters, { keys: "int8" });
};
const COUNT_KEYS = { account: countKeys("account"), purpose: countKeys("purpose"), event: countKeys("event") };

/** Counts what an erasure would find now. The erasure may find more, because events may arrive before it begins. */
export async function planErasure(
  executor: Executor,
  pseudonymizer: Pseudonymizer,
  subject: ErasureSubject,
): Promise<ErasurePlan> {
  const { events, held, still_held, released } = await countByHoldState(executor, subject);
  const features = await countFeatures(executor, subject);
  const stored = { events, held, still_held, released, idempotency_keys: events + held };
  const derived_only = await countDerivedOnly(executor, subject);
  const exports = await findExportsToRecall(executor, subjectMac(pseudonymizer, subject));
  const plan = { ...stored, tokens: 0, actions: 0, keys: 0, features, derived_only, exports };
  if (subject.kind === "action") return plan;
  const ledger = await queryComposed(executor, { ...COUNT_KEYS[subject.kind], values: [...subjectValues(subject)] });
  const idempotency_keys = ledger.rows[0]?.keys ?? 0;
  if (subject.kind === "event") return { ...plan, idempotency_keys };
  const { account } = subject;
  if (subject.kind === "purpose") {
    return { ...plan, idempotency_keys, keys: (await findKeyIds(executor, account, subject.purpose)).length };
  }
  return {
    ...plan,
    idempotency_keys,
    keys: (await findKeyIds(executor, account)).length,
    tokens: await countTokens(executor, account),
    actions: await countActions(executor, account),
  };
}

/**
 * Whether an erasure would find nothing to do. Copies that a hold keeps of events that were erased earlier
 * (`still_held`) do not count: they are deleted when the hold ends.
 */
export const isNothing = ({
  events,
  held,
  idempotency_keys,
  tokens,
  actions,
  keys,
  features,
  exports,
}: ErasurePlan): boolean =>
  // guard(right): an erasure recalls exported rows even if nothing else is left
  exports.length === 0 &&
  [events, held, idempotency_keys, tokens, actions, keys, features].every((count) => count === 0);
