/**
 * Places and lifts restrictions in the database, and appends each order to the erasure journal, from which a restored
 * database gets it again.
 */
import type { Pseudonymizer } from "../../store/crypto/pseudonymizer.ts";
import { type AppendEntryPorts, appendOrder } from "../journal/append-entry.ts";
import {
  REPLAYED,
  type RestrictionLiftedEntry,
  type RestrictionOrderEntry,
  type RestrictionPlacedEntry,
} from "../journal/journal.ts";
import { lockJournal } from "../../store/postgres/advisory-locks.ts";
import type { OwnerTransaction } from "../../store/postgres/executor.ts";
import { query, sql } from "../../store/postgres/statement.ts";
import type { Clock } from "../../base/ports.ts";
import {
  applyRestrictions,
  type Lift,
  type LiftedRestriction,
  liftRestriction,
  type NewRestriction,
  type PlacedRestriction,
  placeRestriction,
} from "./restriction-table.ts";

export interface RestrictionOrderPorts {
  readonly clock: Clock;
  readonly pseudonymizer: Pseudonymizer;
  /** Absent in a dry run, which does not write the journal. */
  readonly journal: AppendEntryPorts | undefined;
}

export interface RestrictionOrder extends Omit<NewRestriction, "accountMac" | "purpose"> {
  /** The restricted purpose: its id in the policy, and its code in events. `undefined` restricts all purposes. */
  readonly purpose: { readonly id: string; readonly code: number } | undefined;
}

/**
 * Places a restriction. The journal lock prevents an erasure of the account from running at the same time.
 * @throws state-conflict if the same restriction is active; journal-entry-exists, Unavailable
 */
export async function placeAndRecordRestriction(
  executor: OwnerTransaction,
  { clock, pseudonymizer, journal }: RestrictionOrderPorts,
  restriction: RestrictionOrder,
): Promise<PlacedRestriction> {
  await lockJournal(executor);
  const accountMac = pseudonymizer.restrictedAccountOf(restriction.account);
  const { purpose } = restriction;
  const placed = await placeRestriction(executor, { ...restriction, accountMac, purpose: purpose?.code }, nowOf(clock));
  if (journal) {
    await appendOrder<RestrictionPlacedEntry>(executor, journal, {
      kind: "restriction-placed",
      restriction_id: placed.restriction_id,
      account: accountMac.toString("hex"),
      purpose: purpose?.id ?? null,
      article: restriction.article,
      request_id: restriction.requestId ?? null,
    });
  }
  return placed;
}

/** Lifts a restriction, and appends the order to the journal. @returns the result of `liftRestriction`. */
export async function liftAndRecordRestriction(
  executor: OwnerTransaction,
  { clock, journal }: RestrictionOrderPorts,
  restrictionId: string,
  lift: Lift,
): Promise<LiftedRestriction | undefined> {
  await lockJournal(executor);
  const lifted = await liftRestriction(executor, restrictionId, lift, nowOf(clock));
  if (lifted && journal) {
    const fields = { restriction_id: restrictionId, informed_on: lift.informedOn } as const;
    await appendOrder<RestrictionLiftedEntry>(executor, journal, { kind: "restriction-lifted", ...fields });
  }
  return lifted;
}

const nowOf = (clock: Clock): string => new Date(clock.now()).toISOString();

const REPLAY_PLACED = sql(
  `with named as materialized (select (select code from purpose where id = $3) as purpose)
    insert into restriction
      (restriction_id, account_mac, purpose, article, request_id, placed_at, reason, approver, placed_by)
    select $1, decode($2, 'hex'), purpose, $4, $5, $6, $7, $8, $8 from named
    on conflict (restriction_id) do nothing`,
  ["uuid", "text", "text?", "int4", "uuid?", "timestamptz", "text", "text"],
);

const REPLAY_LIFTED = sql(
  `update restriction set informed_on = $2, lifted_at = $3, lifted_by = $4, lift_reason = $5
    where restriction_id = $1 and lifted_at is null`,
  ["uuid", "date", "timestamptz", "text", "text"],
);

/**
 * Applies an order to a restored database. If the policy of that database does not have the purpose yet, the code of the
 * purpose is unknown, and the restriction covers all purposes.
 */
export async function applyRestrictionOrder(executor: OwnerTransaction, entry: RestrictionOrderEntry): Promise<void> {
  await replayOrder(executor, entry);
  await applyRestrictions(executor, [entry.restriction_id]);
}

async function replayOrder(executor: OwnerTransaction, entry: RestrictionOrderEntry): Promise<void> {
  const { actor, reason } = REPLAYED;
  if (entry.kind === "restriction-lifted") {
    await query(executor, REPLAY_LIFTED, [entry.restriction_id, entry.informed_on, entry.at, actor, reason]);
    return;
  }
  const { restriction_id, account, purpose, article, request_id, at } = entry;
  await query(executor, REPLAY_PLACED, [restriction_id, account, purpose, article, request_id, at, reason, actor]);
}
