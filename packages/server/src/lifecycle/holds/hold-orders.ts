/**
 * Places, reviews and lifts holds in the database, and appends each order to the erasure journal, from which a restored
 * database gets it again.
 */
import { appendOrder, type AppendEntryPorts } from "../journal/append-entry.ts";
import {
  type HeldSubject,
  type HoldLiftedEntry,
  type HoldOrderEntry,
  type HoldPlacedEntry,
  type HoldReviewedEntry,
  REPLAYED,
} from "../journal/journal.ts";
import type { Pseudonymizer } from "../../store/crypto/pseudonymizer.ts";
import { holdSecretName } from "../../store/crypto/sealer.ts";
import type { Secrets } from "../../store/crypto/secrets.ts";
import type { OwnerTransaction } from "../../store/postgres/executor.ts";
import { receivedAtOf } from "../../store/events/read-events.ts";
import {
  type HoldReview,
  type HoldSubject,
  liftHold,
  type NewHold,
  type PlacedHold,
  placeHold,
  reviewHold,
} from "./hold-table.ts";
import { renewHoldSecrets } from "./renew-hold-secrets.ts";
import { query, sql } from "../../store/postgres/statement.ts";

export interface HoldOrderPorts extends AppendEntryPorts {
  readonly pseudonymizer: Pseudonymizer;
  readonly secrets: Secrets;
}

/**
 * Places a hold.
 * @param ports absent in a dry run, which does not write the journal.
 * @returns `undefined` if the subject of the hold is unknown. @throws erasure-pending, journal-entry-exists,
 * Unavailable
 */
export async function placeAndRecordHold(
  executor: OwnerTransaction,
  ports: HoldOrderPorts | undefined,
  hold: NewHold,
): Promise<PlacedHold | undefined> {
  const placed = await placeHold(executor, hold);
  if (placed && ports) {
    // A hold has its secret before it is active, so that a secret which is missing later is known to be lost.
    await ports.secrets.findOrCreate(holdSecretName(placed.hold_id));
    await appendOrder<HoldPlacedEntry>(executor, ports, {
      kind: "hold-placed",
      hold_id: placed.hold_id,
      subject: heldSubject(ports.pseudonymizer, hold.subject),
      review_on: hold.reviewOn,
    });
  }
  return placed;
}

/**
 * Records a review of a hold and the date of the next review, in the database and in the journal.
 * @returns `false` if no active hold has the id.
 */
export async function reviewAndRecordHold(
  executor: OwnerTransaction,
  ports: AppendEntryPorts | undefined,
  holdId: string,
  review: HoldReview,
): Promise<boolean> {
  const isReviewed = await reviewHold(executor, holdId, review);
  if (isReviewed && ports) {
    const fields = { kind: "hold-reviewed", hold_id: holdId, review_on: review.reviewOn } as const;
    await appendOrder<HoldReviewedEntry>(executor, ports, fields);
  }
  return isReviewed;
}

export interface HoldLift {
  readonly actor: string;
  readonly reason: string;
  /** Called with the number of events that become unreadable, before the journal gets the order. To refuse, it throws. */
  readonly onReleased?: (events: number) => Promise<void>;
}

/** Lifts a hold in the database, and appends the order to the journal. @returns what `liftHold` returns. */
export async function liftAndRecordHold(
  executor: OwnerTransaction,
  ports: AppendEntryPorts | undefined,
  holdId: string,
  { actor, reason, onReleased }: HoldLift,
): Promise<number | undefined> {
  const released = await liftHold(executor, holdId, actor, reason);
  if (released !== undefined) await onReleased?.(released);
  if (released !== undefined && ports) {
    await appendOrder<HoldLiftedEntry>(executor, ports, { kind: "hold-lifted", hold_id: holdId });
  }
  return released;
}

function heldSubject(pseudonymizer: Pseudonymizer, { of, value }: HoldSubject): HeldSubject {
  if (of === "event_id") return { of, event_id: value };
  return { of, mac: pseudonymizer.heldSubjectOf(of, value).toString("hex") };
}

const REPLAY_REVIEWED_HOLD = sql("update legal_hold set review_on = $2 where hold_id = $1 and lifted_at is null", [
  "uuid",
  "date",
]);

const REPLAY_LIFTED_HOLD = sql(
  `update legal_hold set lifted_at = $2, lifted_by = $3, lift_reason = $4
          where hold_id = $1 and lifted_at is null`,
  ["uuid", "timestamptz", "text", "text"],
);

/** Applies an order of the journal that a restored database lacks. @throws Unavailable */
export async function applyHoldOrder(
  executor: OwnerTransaction,
  secrets: Secrets,
  entry: HoldOrderEntry,
): Promise<void> {
  switch (entry.kind) {
    case "hold-placed":
      return replayPlacedHold(executor, secrets, entry);
    case "hold-reviewed":
      await query(executor, REPLAY_REVIEWED_HOLD, [entry.hold_id, entry.review_on]);
      return;
    case "hold-lifted":
      await query(executor, REPLAY_LIFTED_HOLD, [entry.hold_id, entry.at, REPLAYED.actor, REPLAYED.reason]);
  }
}

const REPLAY_PLACED_HOLD = sql(
  `insert into legal_hold (hold_id, event_id, event_received_at, subject_kind, subject_mac, reason, approver, review_on,
        placed_at, placed_by)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $7) on conflict (hold_id) do nothing`,
  ["uuid", "uuid?", "timestamptz?", "text?", "bytea?", "text", "text", "date", "timestamptz"],
);

async function replayPlacedHold(
  executor: OwnerTransaction,
  secrets: Secrets,
  { hold_id, subject, review_on, at }: HoldPlacedEntry,
): Promise<void> {
  const eventId = subject.of === "event_id" ? subject.event_id : null;
  const receivedAt = eventId === null ? null : receivedAtOf(eventId).toISOString();
  const [kind, mac] = subject.of === "event_id" ? [null, null] : [subject.of, Buffer.from(subject.mac, "hex")];
  const { rowCount } = await query(executor, REPLAY_PLACED_HOLD, [
    hold_id,
    eventId,
    receivedAt,
    kind,
    mac,
    REPLAYED.reason,
    REPLAYED.actor,
    review_on,
    at,
  ]);
  // guard(false): a replayed hold gets a secret of a new id, because another copy of the key store may have its first one
  if (rowCount === 1) await renewHoldSecrets(executor, secrets, [hold_id]);
}
