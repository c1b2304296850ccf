import { OperatorError } from "../errors/operator-error.ts";
import { isAccountRefused } from "../accounts/accounts.ts";
import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Sealer } from "../ports.ts";
import { readPurposeIds } from "../policy/policy-table.ts";
import type { NamedAccount } from "../audit/audit-signer.ts";
import { auditQuery } from "../audit/audit.ts";
import { openIfReadable } from "../crypto/open-if-readable.ts";
import type { Pseudonymizer } from "../crypto/pseudonymizer.ts";
import type { Transaction } from "../postgres/executor.ts";
import { releasingLocks } from "../events/partition-slices.ts";
import { listEvents, readEvent } from "../events/read-events.ts";
import { type ComposedQuery, queryComposed, sql } from "../postgres/statement.ts";
import { instant } from "../postgres/instant.ts";

/** Number of events that are listed at once. */
const PAGE = 500;

export interface AccountExport {
  readonly export_id: string;
  readonly account: string;
  readonly exported_at: string;
  /** Whether later events of the account are refused, because it was erased so. */
  readonly refused: boolean;
  readonly files: readonly ExportedFile[];
}

export interface ExportedFile {
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

export interface ExportPorts {
  readonly transaction: Transaction;
  readonly sealer: Sealer;
  readonly pseudonymizer: Pseudonymizer;
  /** Called before any file is written. */
  readonly announce: (exportId: string) => Promise<void>;
  readonly onProgress: (events: number) => void;
}

/**
 * Writes everything that is held about an account into a folder: exact events, their attributes and purposes, keys,
 * actions, tokens (never their hashes), requests, restrictions, and who read or changed what, when and why. `manifest.json` comes last: without
 * it, an export is not whole.
 *
 * @throws export-folder-used
 */
export async function exportAccount(
  { transaction, sealer, pseudonymizer, announce, onProgress }: ExportPorts,
  account: string,
  folder: string,
  now: Date,
): Promise<AccountExport> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // guard(drop): an export does not mix
  // fails: e2e/requests.test.ts › is not written into a folder that has files
  if ((await readdir(folder)).length > 0)
    throw new OperatorError("export-folder-used", `${folder} is not empty: name a new folder`);
  await mkdir(join(folder, "events"), { mode: 0o700 });
  await chmod(folder, 0o700);
  const exportId = randomUUID();
  await announce(exportId);

  const files = [
    await writeRows(folder, "events.ndjson", exportEvents(transaction, sealer, account, folder, onProgress)),
    await writeRows(folder, "idempotency-keys.ndjson", rowsOf(transaction, { ...KEYS, values: [account] })),
    await writeRows(folder, "actions.ndjson", rowsOf(transaction, { ...ACTIONS, values: [account] })),
    await writeRows(folder, "tokens.ndjson", rowsOf(transaction, { ...TOKENS, values: [account] })),
    await writeRows(
      folder,
      "requests.ndjson",
      rowsOf(transaction, { ...REQUESTS, values: [pseudonymizer.subjectOf("account", account)] }),
    ),
    await writeRows(
      folder,
      "restrictions.ndjson",
      rowsOf(transaction, { ...RESTRICTIONS, values: [pseudonymizer.restrictedAccountOf(account)] }),
    ),
    await writeRows(
      folder,
      "accesses.ndjson",
      accesses(transaction, { name: account, subject: pseudonymizer.subjectOf("account", account) }),
    ),
  ];
  const refused = await isAccountRefused(transaction, pseudonymizer.subjectOf("account", account));
  const manifest: AccountExport = { export_id: exportId, account, exported_at: now.toISOString(), refused, files };
  await writeFile(join(folder, "manifest.json"), `${JSON.stringify(manifest, undefined, 2)}\n`, {
    mode: 0o600,
    flag: "wx",
  });
  return manifest;
}

async function* exportEvents(
  transaction: Transaction,
  sealer: Sealer,
  account: string,
  folder: string,
  onProgress: (events: number) => void,
): AsyncGenerator<object> {
  const purposes = await readPurposeIds(transaction);
  const reading = releasingLocks(transaction);
  let count = 0;
  for (let after: string | undefined; ;) {
    const page = await listEvents(reading, { account, includeRestricted: true }, PAGE, after);
    for (const row of page) {
      const { event_id: eventId, purpose } = row;
      const event = await readEvent(reading, { account, purpose, receivedAt: Date.parse(row.received_at), eventId });
      if (!event) throw new Error("an event vanished from its snapshot");
      const attributes = { ...row, purpose: purposes.get(row.purpose) };
      const exact = await openIfReadable(sealer, event);
      if (exact === undefined) {
        yield { ...attributes, unreadable: true };
        continue;
      }
      const file = `events/${row.event_id}.json`;
      await writeFile(join(folder, file), exact, { mode: 0o600, flag: "wx" });
      const sha256 = createHash("sha256").update(exact).digest("hex");
      yield { ...attributes, file, bytes: exact.length, sha256 };
    }
    count += page.length;
    onProgress(count);
    after = page.at(-1)?.event_id;
    if (page.length < PAGE) return;
  }
}

const KEYS = sql(
  `select key as idempotency_key, event_id, ${instant("received_at")} from idempotency_key where account = $1
  and not is_account_key_erased(key_id) order by idempotency_key.received_at, key`,
  ["text"],
  { idempotency_key: "text", event_id: "uuid", received_at: "text" },
);
const ACTIONS = sql(
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
const TOKENS = sql(
  `select token_id, ${instant("issued_at")}, ${instant("expires_at")}, ${instant("revoked_at")}
  from session_token where account = $1 order by session_token.issued_at, token_id`,
  ["text"],
  { token_id: "uuid", issued_at: "text", expires_at: "text", revoked_at: "text?" },
);

const REQUESTS = sql(
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

const RESTRICTIONS = sql(
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
const FETCHED = 1_000;

/** Through a cursor of the transaction. */
async function* rowsOf<Row>(transaction: Transaction, composed: ComposedQuery<Row>): AsyncGenerator<Row & object> {
  await transaction.query(`declare exported no scroll cursor for ${composed.text}`, composed.values);
  const page: ComposedQuery<Row> = { text: `fetch ${FETCHED} from exported`, values: [] };
  for (;;) {
    const { rows } = await queryComposed(transaction, page);
    yield* rows;
    if (rows.length < FETCHED) break;
  }
  await transaction.query("close exported");
}

/** A limit that no account reaches. */
const ALL = 2_147_483_647;

/**
 * The accesses to the account's data: actor, operation, time and reason. Legal holds are no accesses, and are not
 * disclosed to the account.
 */
async function* accesses(transaction: Transaction, account: NamedAccount): AsyncGenerator<object> {
  for await (const row of rowsOf(transaction, auditQuery({ account, limit: ALL }))) {
    const { at, actor, operation, outcome, event_id, occurrences, reason } = row;
    // guard(true): an export holds no holds
    // fails: e2e/requests.test.ts › has everything of the account
    if (!operation.startsWith("hold.")) yield { at, actor, operation, outcome, event_id, occurrences, reason };
  }
}

async function writeRows(folder: string, name: string, rows: AsyncIterable<object>): Promise<ExportedFile> {
  const hash = createHash("sha256");
  let [count, bytes] = [0, 0];
  async function* lines(): AsyncGenerator<string> {
    for await (const row of rows) {
      const line = `${JSON.stringify(row)}\n`;
      hash.update(line);
      bytes += Buffer.byteLength(line);
      count++;
      yield line;
    }
  }
  await pipeline(lines(), createWriteStream(join(folder, name), { mode: 0o600, flags: "wx" }));
  return { name, rows: count, bytes, sha256: hash.digest("hex") };
}
