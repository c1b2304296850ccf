/** The export of what is stored about an account, as parts of files. */
import type { AccountExport, ExportPart } from "@device-risk-signals/admin-api";
import { createHash } from "node:crypto";
import { isAccountRefused } from "../../store/accounts/accounts.ts";
import type { NamedAccount } from "../../audit/audit-signer.ts";
import { auditQuery, openRow } from "../../audit/audit.ts";
import { openIfReadable } from "../../store/crypto/open-if-readable.ts";
import type { Pseudonymizer } from "../../store/crypto/pseudonymizer.ts";
import type { Secrets } from "../../store/crypto/secrets.ts";
import { releasingLocks } from "../../store/events/partition-slices.ts";
import type { FeatureSealer } from "../../store/crypto/feature-sealer.ts";
import { findBundles, listLayers, nameOf } from "../../features/decisions.ts";
import { allFeatureRows } from "../../features/feature-rows.ts";
import { listExportsOf } from "../../features/exports/export-table.ts";
import { openFeatures } from "../../features/read-features.ts";
import { listEvents } from "../../store/events/list-events.ts";
import { readEvent } from "../../store/events/read-events.ts";
import { listPurposes, readPurposeIds } from "../../purposes/policy-table.ts";
import { addPeriod, parsePeriod } from "../../purposes/period.ts";
import { type RecordPeriods, recordPeriods } from "./record-periods.ts";
import type { Sealer } from "../../base/ports.ts";
import type { Transaction } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { type ComposedQuery, queryComposed, sql } from "../../store/postgres/statement.ts";

/** Number of events that are listed at once. */
const PAGE_SIZE = 500;

export interface ExportPorts {
  readonly transaction: Transaction;
  readonly secrets: Secrets;
  readonly sealer: Sealer;
  readonly featureSealer: FeatureSealer;
  readonly pseudonymizer: Pseudonymizer;
  readonly periods: RecordPeriods;
  readonly onProgress: (events: number) => void;
}

/** What a manifest says before the letter for the person is written. */
export type StoredManifest = Omit<AccountExport, "letter_gaps">;
export type StoredPart = Exclude<ExportPart, { readonly manifest: unknown }> | { readonly manifest: StoredManifest };

/** A line of a file, and the exact event that it names. */
interface Exported {
  readonly row: object;
  readonly exact?: { readonly file: string; readonly bytes: Buffer };
}

/**
 * Yields what is stored about an account: the purposes of the policy, periods of other records, exact events, their attributes and features, the exports that have
 * rows of the account, idempotency keys, actions, tokens (never their hashes), rejected requests of the last day, data requests, restrictions, and in which role somebody
 * read or changed what, when and why. Legal holds are not disclosed. The manifest comes last: without it, an export is
 * incomplete.
 */
export async function* exportAccount(
  { transaction, secrets, sealer, featureSealer, pseudonymizer, periods, onProgress }: ExportPorts,
  named: Pick<AccountExport, "account" | "export_id" | "exported_at" | "request_id">,
): AsyncGenerator<StoredPart> {
  const { account } = named;
  const subject = pseudonymizer.subjectOf("account", account);
  const restricted = pseudonymizer.restrictedAccountOf(account);
  const rows = <Row>(composed: ComposedQuery<Row>): AsyncGenerator<Exported> =>
    plainRows(rowsOf(transaction, composed));
  const sources: Readonly<Record<string, AsyncIterable<Exported>>> = {
    // The pages explain events and values by what comes before them.
    "purposes.ndjson": plainRows(exportPurposes(transaction)),
    "periods.ndjson": plainRows(recordPeriods(periods)),
    "requests.ndjson": rows({ ...READ_REQUESTS, values: [subject] }),
    "restrictions.ndjson": rows({ ...READ_RESTRICTIONS, values: [restricted] }),
    "exports.ndjson": plainRows(exportsOf(transaction, subject)),
    "events.ndjson": exportEvents(transaction, sealer, account, onProgress),
    "features.ndjson": plainRows(exportFeatures(transaction, featureSealer, account)),
    "idempotency-keys.ndjson": rows({ ...READ_IDEMPOTENCY_KEYS, values: [account] }),
    "actions.ndjson": rows({ ...READ_ACTIONS, values: [account] }),
    "tokens.ndjson": rows({ ...READ_TOKENS, values: [account] }),
    "rejections.ndjson": rows({ ...READ_REJECTIONS, values: [account] }),
    "accesses.ndjson": plainRows(auditedAccesses(transaction, secrets, { name: account, subject })),
  };
  const files: AccountExport["files"] = [];
  for (const [file, source] of Object.entries(sources)) files.push(yield* partsOf(file, source));
  const refused = await isAccountRefused(transaction, subject);
  yield { manifest: { ...named, refused, files } };
}

async function* partsOf(
  file: string,
  source: AsyncIterable<Exported>,
): AsyncGenerator<StoredPart, AccountExport["files"][number]> {
  const hash = createHash("sha256");
  let [rows, bytes] = [0, 0];
  // The export also contains files without rows.
  yield { file, text: "" };
  for await (const { row, exact } of source) {
    if (exact) yield { file: exact.file, base64: exact.bytes.toString("base64") };
    const text = `${JSON.stringify(row)}\n`;
    hash.update(text);
    bytes += Buffer.byteLength(text);
    rows++;
    yield { file, text };
  }
  return { name: file, rows, bytes, sha256: hash.digest("hex") };
}

async function* plainRows(rows: AsyncIterable<object> | Iterable<object>): AsyncGenerator<Exported> {
  for await (const row of rows) yield { row };
}

/** Why data are kept and for how long, so that a reader of the other files learns what their purposes mean. */
async function* exportPurposes(transaction: Transaction): AsyncGenerator<object> {
  for (const {
    id: purpose,
    title,
    legal_basis,
    owner,
    raw_retention,
    derived_retention,
    retired_at,
  } of await listPurposes(transaction)) {
    yield { purpose, title, legal_basis, owner, raw_retention, derived_retention, retired_at };
  }
}

/** When the period of a purpose ends that begins with the receipt; `null` if it has no end. */
async function endOf(
  transaction: Transaction,
  retention: "raw_retention" | "derived_retention",
): Promise<(purpose: number, receivedAt: string) => string | null> {
  const purposes = await listPurposes(transaction);
  const periods = new Map(purposes.map((purpose) => [purpose.code, parsePeriod(purpose[retention] ?? "")]));
  return (purpose, receivedAt) => {
    const period = periods.get(purpose);
    return period ? new Date(addPeriod(Date.parse(receivedAt), period)).toISOString() : null;
  };
}

async function* exportEvents(
  transaction: Transaction,
  sealer: Sealer,
  account: string,
  onProgress: (events: number) => void,
): AsyncGenerator<Exported> {
  const purposes = await readPurposeIds(transaction);
  const deleteOn = await endOf(transaction, "raw_retention");
  const reading = releasingLocks(transaction);
  let count = 0;
  for (let after: string | undefined; ;) {
    const page = await listEvents(reading, { account, includeRestricted: true }, PAGE_SIZE, after);
    for (const row of page) {
      const { event_id: eventId, purpose } = row;
      const event = await readEvent(reading, { account, purpose, receivedAt: Date.parse(row.received_at), eventId });
      if (!event) throw new Error("an event vanished from its snapshot");
      const attributes = {
        ...row,
        purpose: purposes.get(row.purpose),
        delete_on: deleteOn(row.purpose, row.received_at),
      };
      const exact = await openIfReadable(sealer, event);
      if (exact === undefined) {
        yield { row: { ...attributes, unreadable: true } };
        continue;
      }
      const file = `events/${row.event_id}.json`;
      const sha256 = createHash("sha256").update(exact).digest("hex");
      yield { row: { ...attributes, file, bytes: exact.length, sha256 }, exact: { file, bytes: exact } };
    }
    count += page.length;
    onProgress(count);
    after = page.at(-1)?.event_id;
    if (page.length < PAGE_SIZE) return;
  }
}

/** The features of the account with their meaning, also for events that have expired. */
async function* exportFeatures(
  transaction: Transaction,
  sealer: FeatureSealer,
  account: string,
): AsyncGenerator<object> {
  const layers = await listLayers(transaction);
  const bundles = await findBundles(transaction, [...new Set(layers.flatMap(({ members }) => members))]);
  const meanings = new Map(bundles.map(({ manifest }) => [nameOf(manifest), manifest.meaning]));
  const purposes = await readPurposeIds(transaction);
  const deleteOn = await endOf(transaction, "derived_retention");
  for await (const row of allFeatureRows(releasingLocks(transaction), { account })) {
    const { event_id, received_at } = row;
    const delete_on = deleteOn(row.purpose, received_at);
    const event = { event_id, received_at, delete_on, purpose: purposes.get(row.purpose) };
    const opened = await openFeatures(sealer, layers, row);
    if (!opened) yield { ...event, unreadable: true };
    for (const { feature, ...rest } of opened?.features ?? []) {
      yield { ...event, feature, meaning: meanings.get(feature), ...rest };
    }
  }
}

/** Yields the exports that have rows of the account, each with its recipient. */
async function* exportsOf(transaction: Transaction, subject: Buffer): AsyncGenerator<object> {
  yield* await listExportsOf(transaction, subject);
}

const READ_IDEMPOTENCY_KEYS = sql(
  `select key as idempotency_key, event_id, ${instant("received_at")} from idempotency_key where account = $1
  and not is_account_key_erased(key_id) order by idempotency_key.received_at, key`,
  ["text"],
  { idempotency_key: "text", event_id: "uuid", received_at: "text" },
);
const READ_ACTIONS = sql(
  `select action_id, action_type, session_id, ${instant("registered_at")}, ${instant("expires_at")}, ${instant("revoked_at")}
  from action where account = $1 order by action.registered_at, action_id`,
  ["text"],
  {
    action_id: "text",
    action_type: "text",
    session_id: "text?",
    registered_at: "text",
    expires_at: "text",
    revoked_at: "text?",
  },
);
const READ_TOKENS = sql(
  `select token_id, ${instant("issued_at")}, ${instant("expires_at")}, ${instant("revoked_at")}
  from session_token where account = $1 order by session_token.issued_at, token_id`,
  ["text"],
  { token_id: "uuid", issued_at: "text", expires_at: "text", revoked_at: "text?" },
);
const READ_REJECTIONS = sql(
  `select ${instant("r.at", "at")}, problem, cause, sdk_version, violations, places from recent_rejection r
  where account = $1 order by r.rejection_id`,
  ["text"],
  { at: "text", problem: "text", cause: "text?", sdk_version: "text?", violations: "text[]", places: "text[]" },
);

const READ_REQUESTS = sql(
  `select request_id, kind, ${instant("received_at")}, ${instant("due_at")}, ${instant("closed_at")}, outcome, ground,
  identity, extension_ground, erasure_id, export_id from data_request where subject_mac = $1 order by data_request.received_at, request_id`,
  ["bytea"],
  {
    request_id: "uuid",
    kind: "text",
    received_at: "text",
    due_at: "text",
    closed_at: "text?",
    outcome: "text?",
    ground: "text?",
    identity: "text?",
    extension_ground: "text?",
    erasure_id: "uuid?",
    export_id: "uuid?",
  },
);

const READ_RESTRICTIONS = sql(
  `select restriction_id, article, p.id as purpose, reason, ${instant("placed_at")}, request_id, informed_on::text,
  ${instant("lifted_at")}, lift_reason, erased_by is not null as erased
  from restriction r left join purpose p on p.code = r.purpose where account_mac = $1 order by r.placed_at, restriction_id`,
  ["bytea"],
  {
    restriction_id: "uuid",
    article: "int4",
    purpose: "text?",
    reason: "text",
    placed_at: "text",
    request_id: "uuid?",
    informed_on: "text?",
    lifted_at: "text?",
    lift_reason: "text?",
    erased: "bool",
  },
);

/** Number of rows that are in memory at once. */
const ROWS_PER_FETCH = 1_000;

/** Reads rows through a cursor of the transaction. */
async function* rowsOf<Row>(transaction: Transaction, composed: ComposedQuery<Row>): AsyncGenerator<Row & object> {
  await transaction.query(`declare exported no scroll cursor for ${composed.text}`, composed.values);
  const page: ComposedQuery<Row> = { text: `fetch ${ROWS_PER_FETCH} from exported`, values: [] };
  for (;;) {
    const { rows } = await queryComposed(transaction, page);
    yield* rows;
    if (rows.length < ROWS_PER_FETCH) break;
  }
  await transaction.query("close exported");
}

/** A limit that is higher than the number of rows of any account. */
const NO_LIMIT = 2_147_483_647;

/**
 * The accesses to the account's data: roles of the actor, operation, time and reason. Legal holds are no accesses, and
 * are not disclosed to the account.
 */
async function* auditedAccesses(
  transaction: Transaction,
  secrets: Secrets,
  account: NamedAccount,
): AsyncGenerator<object> {
  for await (const row of rowsOf(transaction, auditQuery({ account, limit: NO_LIMIT }))) {
    // guard: what a login of the database inserted is no access to the account's data
    if (row.verified === false) continue;
    const { at, via, roles, operation, outcome, event_id, occurrences, reason } = await openRow(() => secrets, row);
    // guard(true): the export of an account does not disclose legal holds
    if (operation.startsWith("hold.")) continue;
    // Who looked has rights, too: the export has their roles, and never their name.
    yield { at, via, roles: roles ?? [], operation, outcome, event_id, occurrences, reason };
  }
}
