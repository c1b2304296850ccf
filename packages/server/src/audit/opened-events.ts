/** Finds what people have opened, exported and removed in the last 24 hours, by their audit entries. */
import type { Executor } from "../store/postgres/executor.ts";
import { query, type RowOf, sql } from "../store/postgres/statement.ts";
import { obtainerSql, personsOfActor, personSql } from "./actor-persons.ts";
import type { AuditSigner } from "./audit-signer.ts";
import { decodeRecord } from "../store/audit-record/record.ts";

/** Operations that show the payloads of the events that their entry names. `reveal_event` allows only these. */
export const OPENING_OPERATIONS = ["event.read_raw", "event.read_observations", "event.compare"] as const;

/** The operation of the entry that counts events which an operation removed without an approval. */
export const REMOVAL_OPERATION = "approval.exempt";

/** The persons and tokens whose acts are counted together. */
export interface Openers {
  readonly persons: readonly string[];
  /** The persons of the admin tokens that `persons` obtained. */
  readonly tokenPersons: readonly string[];
}

/** What a person did, by one audit entry; for several events an act each. */
interface Act {
  readonly entry_id: string;
  readonly approval_id: string | null;
  readonly event_id: string | null;
  /** The keyed MAC of the account in hexadecimal. */
  readonly subject: string | null;
  /** The references of the entry, in the clear. */
  readonly detail: unknown;
}

/** An event that a person opened, and the approval under which they did. */
export type OpenedEvent = Pick<Act, "approval_id" | "event_id">;

/** The acts of `Openers`: `$1` are all persons, `$2` the operations, and `$3` is `Openers.persons`. */
const RECENT_ACTS = `via in ('api', 'console', 'cli') and ${personSql("actor")} = any ($1)
      -- guard(true): acts of another person with a token of their own are not counted
      and (${personSql("actor")} = any ($3) or ${obtainerSql("actor")} = any ($3))
      and at > transaction_time() - interval '24 hours' and operation = any ($2) and outcome = 'done'`;

const LIST_VERIFIED = sql(
  `select e.entry_id, approval_id, unnest(coalesce(event_ids, array[event_id])) as event_id,
      encode(subject, 'hex') as subject, detail
    from audit_entry e join audit_leaf l on l.entry_id = e.entry_id
    -- guard: what a login of the database inserted is not counted as a person's act
    where l.verified and ${RECENT_ACTS}`,
  ["text[]", "text[]", "text[]"],
  { entry_id: "uuid", approval_id: "uuid?", event_id: "uuid?", subject: "text?", detail: "jsonb?" },
);

/** Maximum number and size of entries that a statement reads, because a login of the database can insert any. */
const PAGE = 250;
const MAX_RECORD_BYTES = 65_536;
const UNCHECKED = { entry_id: "uuid", record: "bytea", mac: "bytea" } as const;
const LIST_UNCHECKED = sql(
  `select e.entry_id, e.record, e.mac from audit_entry e
    where ${RECENT_ACTS} and not exists (select 1 from audit_leaf l where l.entry_id = e.entry_id)
      and octet_length(e.record) <= ${MAX_RECORD_BYTES} and e.entry_id > $4
    order by e.entry_id limit ${PAGE}`,
  ["text[]", "text[]", "text[]", "uuid"],
  UNCHECKED,
);
const LOWEST_UUID = "00000000-0000-0000-0000-000000000000";

/**
 * Lists the acts of entries whose MAC a worker found valid, and of entries that no worker has checked yet. Of these,
 * only entries count that the admin API signed: an unchecked entry neither blocks a person, nor lets a fast person
 * exceed a limit.
 */
async function listActs(
  executor: Executor,
  signer: AuditSigner,
  { persons, tokenPersons }: Openers,
  operations: readonly string[],
): Promise<readonly Act[]> {
  const allPersons = [...new Set([...persons, ...tokenPersons])];
  const values = [allPersons, [...operations], [...persons]] as const;
  const unchecked: Act[] = [];
  for (let after = LOWEST_UUID; ;) {
    const { rows } = await query(executor, LIST_UNCHECKED, [...values, after]);
    unchecked.push(...rows.flatMap((row) => signedActs(signer, row, allPersons, operations)));
    if (rows.length < PAGE) break;
    after = rows.at(-1)?.entry_id ?? after;
  }
  // Read last: an entry that a worker checks meanwhile is in one of the two lists, or in both.
  const verified: readonly Act[] = (await query(executor, LIST_VERIFIED, [...values])).rows;
  const verifiedIds = new Set(verified.map(({ entry_id }) => entry_id));
  return [...verified, ...unchecked.filter(({ entry_id }) => !verifiedIds.has(entry_id))];
}

/** The acts of an entry, if the admin API signed that one of the persons did them. */
function signedActs(
  signer: AuditSigner,
  { entry_id, record: bytes, mac }: RowOf<typeof UNCHECKED>,
  persons: readonly string[],
  operations: readonly string[],
): readonly Act[] {
  // guard: an entry that a login of the database inserted blocks no person
  if (!signer.isOwn("admin", { bytes, mac })) return [];
  const record = decodeRecord(bytes);
  const isOf = record?.entryId === entry_id && personsOfActor(record.actor).some((person) => persons.includes(person));
  if (!isOf || !operations.includes(record.operation)) return [];
  const act = {
    entry_id,
    approval_id: record.approvalId ?? null,
    subject: record.subjects?.[0]?.toString("hex") ?? null,
    detail: record.detail === undefined ? null : (JSON.parse(record.detail) as unknown),
  };
  return (record.eventIds ?? [null]).map((event_id) => ({ ...act, event_id }));
}

export const listOpenedEvents = (
  executor: Executor,
  signer: AuditSigner,
  openers: Openers,
): Promise<readonly OpenedEvent[]> => listActs(executor, signer, openers, OPENING_OPERATIONS);

/** Counts the other accounts that were exported without an approval. @param subject the keyed MAC of this account. */
export async function countExportedAccounts(
  executor: Executor,
  signer: AuditSigner,
  openers: Openers,
  subject: Buffer,
): Promise<number> {
  const acts = await listActs(executor, signer, openers, ["account.export"]);
  const accounts = acts.flatMap((act) => (act.approval_id === null && act.subject !== null ? [act.subject] : []));
  return new Set(accounts.filter((account) => account !== subject.toString("hex"))).size;
}

/** Counts the events that were removed without an approval, by the references `events` of the entries. */
export async function countRemovedEvents(executor: Executor, signer: AuditSigner, openers: Openers): Promise<number> {
  const acts = await listActs(executor, signer, openers, [REMOVAL_OPERATION]);
  return acts.reduce((sum, { detail }) => sum + Number((detail as { readonly events: string }).events), 0);
}
