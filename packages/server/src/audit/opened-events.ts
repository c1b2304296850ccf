/** Counts the events that people have opened in the last 24 hours, by their audit entries. */
import type { Executor } from "../postgres/executor.ts";
import { query, type RowOf, sql } from "../postgres/statement.ts";
import { obtainerSql, personsOfActor, personSql } from "./actor-persons.ts";
import type { AuditSigner } from "./audit-signer.ts";
import { decodeRecord } from "./log/record.ts";

/** Operations that show the payload of the event that their entry names. `reveal_event` allows only these. */
export const OPENING_OPERATIONS = ["event.read_raw", "event.read_observations", "event.compare"] as const;

/** An event that a person opened, and the approval under which they did. */
export interface OpenedEvent {
  readonly approval_id: string | null;
  readonly event_id: string | null;
}

/** Entries of persons `$1` with operations `$2` of the last 24 hours. */
const OPENED = `via in ('api', 'console', 'cli') and ${personSql("actor")} = any ($1)
      -- guard(true): events that another person opened with a token of their own are not counted
      -- fails: packages/server/src/admin/cases.test.ts › a token that the person obtained
      and (${personSql("actor")} = any ($3) or ${obtainerSql("actor")} = any ($3))
      and at > transaction_time() - interval '24 hours' and operation = any ($2) and outcome = 'done'`;

const LIST_VERIFIED = sql(
  `select distinct approval_id, event_id from audit_entry e join audit_leaf l on l.entry_id = e.entry_id
    -- guard: what a login of the database inserted is not counted as a person's act
    where l.verified and ${OPENED}`,
  ["text[]", "text[]", "text[]"],
  { approval_id: "uuid?", event_id: "uuid?" },
);

/** Maximum number and size of entries that a statement reads, because a login of the database can insert any. */
const PAGE = 250;
const MAX_RECORD_BYTES = 65_536;
const UNCHECKED = { entry_id: "uuid", record: "bytea", mac: "bytea" } as const;
const LIST_UNCHECKED = sql(
  `select e.entry_id, e.record, e.mac from audit_entry e
    where ${OPENED} and not exists (select from audit_leaf l where l.entry_id = e.entry_id)
      and octet_length(e.record) <= ${MAX_RECORD_BYTES} and e.entry_id > $4
    order by e.entry_id limit ${PAGE}`,
  ["text[]", "text[]", "text[]", "uuid"],
  UNCHECKED,
);
const LOWEST_UUID = "00000000-0000-0000-0000-000000000000";

/** The persons and tokens whose opened events are counted together. */
export interface Openers {
  readonly persons: readonly string[];
  /** The persons of the admin tokens that `persons` obtained. */
  readonly tokenPersons: readonly string[];
}

/**
 * Lists the events of entries whose MAC a worker found valid, and of entries that no worker has checked yet. Of these,
 * only entries count that the admin API signed: an unchecked entry neither blocks a person, nor lets a fast person
 * exceed the limit.
 */
export async function listOpenedEvents(
  executor: Executor,
  signer: AuditSigner,
  { persons, tokenPersons }: Openers,
): Promise<readonly OpenedEvent[]> {
  const allPersons = [...new Set([...persons, ...tokenPersons])];
  const values = [allPersons, [...OPENING_OPERATIONS], [...persons]] as const;
  const opened: OpenedEvent[] = [...(await query(executor, LIST_VERIFIED, [...values])).rows];
  for (let after = LOWEST_UUID; ;) {
    const { rows } = await query(executor, LIST_UNCHECKED, [...values, after]);
    opened.push(...rows.flatMap((row) => openedBy(signer, row, allPersons)));
    if (rows.length < PAGE) return opened;
    after = rows.at(-1)?.entry_id ?? after;
  }
}

/** The event of an entry, if the admin API signed that one of the persons opened it. */
function openedBy(
  signer: AuditSigner,
  { entry_id, record: bytes, mac }: RowOf<typeof UNCHECKED>,
  persons: readonly string[],
): readonly OpenedEvent[] {
  // guard: an entry that a login of the database inserted blocks no person
  if (!signer.isOwn("admin", { bytes, mac })) return [];
  const record = decodeRecord(bytes);
  const isOf = record?.entryId === entry_id && personsOfActor(record.actor).some((person) => persons.includes(person));
  if (!isOf || !OPENING_OPERATIONS.some((operation) => operation === record.operation)) return [];
  return (record.eventIds ?? []).map((event_id) => ({ approval_id: record.approvalId ?? null, event_id }));
}
