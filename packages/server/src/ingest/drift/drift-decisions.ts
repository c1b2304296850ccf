/**
 * Decisions about drift as rows. A login of the database can insert rows, but it can't make a MAC. The server uses no
 * decision without a valid MAC.
 */
import { findNumbered, nextNumber, type NumberedSearch, numberedIds } from "../../store/crypto/numbered-ids.ts";
import { MAX_UNSIGNED, type RowSigner, type SignedValues } from "../../store/crypto/row-signer.ts";
import type { Clock } from "../../base/ports.ts";
import { isIdFree } from "../../store/postgres/advisory-locks.ts";
import type { Executor, Transaction } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { narrowed, query, queryRow, type RowOf, sql } from "../../store/postgres/statement.ts";
import { type AcceptedField, acceptedFields, type DriftDecision, type Verdict } from "./drift-review.ts";

const DECISION_COLUMNS = `decision_id, path, kind, type, unit, sensitivity, to_char(ignored_until, 'YYYY-MM-DD') as ignored_until,
  seen_types, ${instant("decided_at")}, decided_by, reason, mac`;
const DECISION_TYPES = {
  decision_id: "uuid",
  path: "text",
  kind: narrowed<DriftDecision["kind"]>("text"),
  type: narrowed<DriftDecision["type"]>("text?"),
  unit: narrowed<DriftDecision["unit"]>("text?"),
  sensitivity: narrowed<DriftDecision["sensitivity"]>("text?"),
  ignored_until: "text?",
  seen_types: "text[]",
  decided_at: "text",
  decided_by: "text",
  reason: "text",
  mac: "bytea",
} as const;

/** `decided_at` is the time that the row gets in the same transaction. */
const FIND_SEEN_TYPES = sql(
  `select coalesce(array_agg(distinct json_type order by json_type), '{}') as seen_types,
      ${instant("transaction_time()", "decided_at")}
    from drift where path = $1`,
  ["text"],
  { seen_types: "text[]", decided_at: "text" },
);
const INSERT_DECISION = sql(
  `insert into drift_decision (decision_id, path, kind, type, unit, sensitivity, ignored_until, seen_types, decided_by,
      reason, mac)
    select $1::uuid, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11
      where ${isIdFree("$1")} on conflict (decision_id) do nothing`,
  ["uuid", "text", "text", "text?", "text?", "text?", "date?", "text[]", "text", "text", "bytea"],
);
/** Maximum number of rows that a statement reads, because a login of the database can insert rows without limit. */
const PAGE_SIZE = 1_000;
/** Maximum number of ids of decisions that a statement looks up. */
const MAX_IDS_LOOKED_UP = 250;
type DecisionRow = RowOf<typeof DECISION_TYPES>;
const FIND_DECISIONS = sql(
  `select ${DECISION_COLUMNS} from drift_decision where decision_id = any ($1)`,
  ["uuid[]"],
  DECISION_TYPES,
);
const LIST_RECENT = sql(
  `select decision, decided_at::text as position, ${DECISION_COLUMNS} from drift_decision
    where decided_at > $1::timestamptz - interval '30 days' and (decided_at, decision) > ($2, $3)
    order by decided_at, decision limit ${PAGE_SIZE}`,
  ["timestamptz", "timestamptz", "int8"],
  { ...DECISION_TYPES, decision: "int8", position: "text" },
);

/** The person who decides, and the reason. */
export interface Decided {
  readonly by: string;
  readonly reason: string;
}

/** A decision with the id of its row. */
interface DecisionOfRow extends DriftDecision {
  readonly decision_id: string;
}

/** The decisions of an installation. Each has a MAC, which the server verifies when it reads the decision. */
export class DriftDecisions {
  readonly #signer: RowSigner;

  constructor(signer: RowSigner) {
    this.#signer = signer;
  }

  async decide(transaction: Transaction, path: string, verdict: Verdict, decided: Decided): Promise<DriftDecision> {
    const { kind } = verdict;
    const { seen_types, decided_at } = await queryRow(transaction, FIND_SEEN_TYPES, [path]);
    const decision: DriftDecision = {
      path,
      kind,
      type: kind === "accepted" ? verdict.type : null,
      unit: kind === "accepted" ? (verdict.unit ?? null) : null,
      sensitivity: "sensitivity" in verdict ? verdict.sensitivity : null,
      ignored_until: kind === "ignored" ? (verdict.until ?? null) : null,
      seen_types,
      decided_at,
      decided_by: decided.by,
      reason: decided.reason,
    };
    const search = this.#search(transaction);
    for (let number = await nextNumber(search); ; number++) {
      const decision_id = search.ids(number);
      const { rowCount } = await query(transaction, INSERT_DECISION, [
        decision_id,
        path,
        kind,
        decision.type,
        decision.unit,
        decision.sensitivity,
        decision.ignored_until,
        decision.seen_types,
        decision.decided_by,
        decision.reason,
        this.#signer.sign(valuesOf({ ...decision, decision_id })),
      ]);
      if (rowCount === 1) return decision;
    }
  }

  /** Lists the decisions of people, newest first. */
  async list(executor: Executor): Promise<readonly DriftDecision[]> {
    const decisions: DriftDecision[] = [];
    for (const { row } of await findNumbered(this.#search(executor))) {
      const { decision_id: _id, mac: _mac, ...decision } = row;
      // guard(true): a decision that a login of the database wrote is no decision
      if (this.#isSigned(row)) decisions.push(decision);
    }
    return decisions.toReversed();
  }

  async listAcceptedFields(executor: Executor): Promise<readonly AcceptedField[]> {
    return acceptedFields(await this.list(executor));
  }

  /**
   * Counts decisions, written in the last 30 days, that the server did not sign. It stops at about `MAX_UNSIGNED`.
   */
  async countForged(executor: Executor, clock: Clock): Promise<number> {
    const now = new Date(clock.now()).toISOString();
    let forged = 0;
    for (let after: readonly [string, number] = ["-infinity", 0]; ;) {
      const { rows } = await query(executor, LIST_RECENT, [now, ...after]);
      forged += rows.filter((row) => !this.#isSigned(row)).length;
      const last = rows.at(-1);
      if (!last || rows.length < PAGE_SIZE) return forged;
      // guard(false): a count of forged decisions has an end
      if (forged >= MAX_UNSIGNED) return forged;
      after = [last.position, last.decision];
    }
  }

  /** Finds decisions by their ids. A search by a column would also find rows of a login of the database. */
  #search(executor: Executor): NumberedSearch<DecisionRow> {
    return {
      ids: numberedIds(this.#signer, "drift decision id"),
      page: MAX_IDS_LOOKED_UP,
      find: async (ids) => (await query(executor, FIND_DECISIONS, [ids])).rows,
      idOf: ({ decision_id }) => decision_id,
    };
  }

  #isSigned(row: DecisionOfRow & { readonly mac: Buffer }): boolean {
    return this.#signer.isSigned(valuesOf(row), row.mac);
  }
}

/**
 * The signature covers the id of the row, which is unique, so that a login can't insert a copy of a valid decision
 * after a later one. A decision that a restore lost can't be inserted again, because its row would have another time.
 */
const valuesOf = (row: DecisionOfRow): SignedValues => [
  "drift decision",
  row.decision_id,
  row.path,
  row.kind,
  row.type,
  row.unit,
  row.sensitivity,
  row.ignored_until,
  row.seen_types,
  // guard(drop): a copy of a decision that a restore lost is no decision
  row.decided_at,
  row.decided_by,
  row.reason,
];
