import type { LedgerNames } from "../seal/ledger-names.ts";
import type { Executor } from "../store/database.ts";
import { receivedAtOf } from "../store/read-events.ts";

/** What is to be erased. */
export type ErasureSubject =
  | { readonly kind: "account"; readonly account: string }
  /** What is kept of an account under one purpose, by the purpose's code: its consent was withdrawn. */
  | { readonly kind: "purpose"; readonly account: string; readonly purpose: number }
  | { readonly kind: "action"; readonly actionId: string }
  | { readonly kind: "event"; readonly eventId: string };

/** An account, and what is kept of it under each purpose. */
export function accountSubjects(account: string, purposes: ReadonlyMap<number, string>): readonly ErasureSubject[] {
  const under = [...purposes.keys()].map((purpose) => ({ kind: "purpose", account, purpose }) as const);
  return [{ kind: "account", account }, ...under];
}

/** The keyed MAC that finds an erasure again for whoever can name its subject. */
export function subjectMac(names: LedgerNames, subject: ErasureSubject): Buffer {
  switch (subject.kind) {
    case "account":
      return names.subjectOf("account", subject.account);
    case "purpose":
      return names.subjectOf("purpose", subject.account, String(subject.purpose));
    case "action":
      return names.subjectOf("action", subject.actionId);
    case "event":
      return names.subjectOf("event", subject.eventId);
  }
}

/** A condition on a table of events. */
export function conditionOf(subject: ErasureSubject): { readonly where: string; readonly values: readonly unknown[] } {
  switch (subject.kind) {
    case "account":
      return { where: "account = $1", values: [subject.account] };
    case "purpose":
      return { where: "account = $1 and purpose = $2", values: [subject.account, subject.purpose] };
    case "action":
      return { where: "action_id = $1", values: [subject.actionId] };
    case "event":
      return {
        where: "event_id = $1 and received_at = $2",
        values: [subject.eventId, receivedAtOf(subject.eventId).toISOString()],
      };
  }
}

/** What an erasure takes, and what holds keep of it. */
export interface ErasurePlan {
  /** Events that go, copies that holds made included. */
  readonly events: number;
  /** Events that a hold covers: they go when the last hold ends. */
  readonly held: number;
  /** Copies of events that were erased before and that a hold still keeps. */
  readonly still_held: number;
  readonly idempotency_keys: number;
  readonly tokens: number;
  readonly actions: number;
  /** Secrets that events of it are sealed under. */
  readonly keys: number;
}

/** Counts it; the moment of the erasure may find more. */
export async function planErasure(executor: Executor, subject: ErasureSubject): Promise<ErasurePlan> {
  const { where, values } = conditionOf(subject);
  const { rows } = await executor.query<{ events: number; held: number; still_held: number }>(
    `select count(*) filter (where erased_by is null and not covered) as events,
        count(*) filter (where erased_by is null and covered) as held,
        count(*) filter (where erased_by is not null) as still_held
      from (select erased_by, is_held(account, action_id, event_id) as covered from kept_event
        where ${where} and (hold_id is not null or not is_erased(key_id))) found`,
    [...values],
  );
  const { events = 0, held = 0, still_held = 0 } = rows[0] ?? {};
  const plan = { events, held, still_held, idempotency_keys: events + held, tokens: 0, actions: 0, keys: 0 };
  if (subject.kind === "action") return plan;
  const ledger = await executor.query<{ keys: number }>(
    `select count(*) as keys from idempotency_key i where ${where} and not is_erased(i.key_id)`,
    [...values],
  );
  const idempotency_keys = ledger.rows[0]?.keys ?? 0;
  if (subject.kind === "event") return { ...plan, idempotency_keys };
  const secrets = await executor.query<{ keys: number }>(
    `select count(*) as keys from account_key where ${where} and erased_by is null`,
    [...values],
  );
  const keys = secrets.rows[0]?.keys ?? 0;
  if (subject.kind === "purpose") return { ...plan, idempotency_keys, keys };
  const credentials = await executor.query<{ tokens: number; actions: number }>(
    `select (select count(*) from session_token where account = $1) as tokens,
      (select count(*) from action where account = $1) as actions`,
    [subject.account],
  );
  return { ...plan, idempotency_keys, keys, ...credentials.rows[0] };
}

/** Whether an erasure would find nothing to do; what a hold still keeps of earlier ones waits for the hold's end. */
export const isNothing = ({ events, held, idempotency_keys, tokens, actions, keys }: ErasurePlan): boolean =>
  [events, held, idempotency_keys, tokens, actions, keys].every((count) => count === 0);
