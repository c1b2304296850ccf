import { setTimeout as sleep } from "node:timers/promises";
import { uuidv7 } from "../base/identifiers/uuidv7.ts";
import { sourceOf } from "../base/identifiers/source-address.ts";
import { Loop } from "../base/loop.ts";
import type { AuditLog, IngestAudit, OnError } from "../base/ports.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { receivedAtOf } from "../store/events/read-events.ts";
import { instant } from "../store/postgres/instant.ts";
import { composed, narrowed, queryComposed } from "../store/postgres/statement.ts";
import { INGESTION } from "../store/audit-record/surfaces.ts";
import type { Lane, LaneEntry } from "../store/audit-record/lane.ts";
import { insertEntries } from "./entries.ts";
import type { AuditSigner, NamedAccount } from "./audit-signer.ts";
import type { Secrets } from "../store/crypto/secrets.ts";
import { personSql } from "./actor-persons.ts";
import { openDetail, sealDetail } from "./personal-detail.ts";
import { decodeRecord } from "../store/audit-record/record.ts";
import { insertReview } from "./review-table.ts";

/**
 * How an operation reached the system. `api`: a program called the admin API. `console`: the console called it. `cli`:
 * `drs` called it. `direct`: a command on the database. `server`: work of the server itself.
 */
export type Via = "api" | "console" | "cli" | "direct" | "server";

/** Who acts. */
export interface Agent {
  readonly actor: string;
  readonly via: Via;
  /** The roles that the actor had. */
  readonly roles?: readonly string[];
  /** Whether the actor used break-glass. If so, writing the entry also opens a review of it. */
  readonly breakGlass?: boolean;
  /** The source address of the request, which the entry has in its sealed detail. */
  readonly source?: string;
  /** The reason. It is sealed like `detail`, so that an erasure of the account makes both unreadable after a time. */
  readonly reason?: string;
}

/** The audit entry of one operation of a person or a program. */
export interface AuditEntry extends Agent {
  readonly operation: string;
  readonly outcome: string;
  readonly account?: string;
  readonly eventIds?: readonly string[];
  readonly detail?: Readonly<Record<string, unknown>>;
  /**
   * Texts in the clear by which the server searches entries, such as ids and keyed MACs. Readers see them as a part of
   * `detail`.
   */
  readonly references?: Readonly<Record<string, string>>;
  /** The category of the case, such as `dispute`. */
  readonly category?: string;
  /** The id of the case in another system. */
  readonly ticket?: string;
  readonly caseId?: string;
  readonly approvalId?: string;
}

/**
 * Writes an entry. The entry is durable when the promise resolves, so that a caller can wait for it before it returns
 * data. In a transaction, the entry is durable when the transaction is committed.
 * @returns the id of the entry.
 */
export async function writeAudit(executor: Executor, signer: AuditSigner, entry: AuditEntry): Promise<string> {
  const { account, eventIds, reason, detail: ofOperation, source, breakGlass, references: given, ...rest } = entry;
  const detail = source === undefined ? ofOperation : { ...ofOperation, source };
  const references = breakGlass ? { ...given, break_glass: "true" } : given;
  const at = signer.clock.now();
  const entryId = uuidv7(at);
  const subject = account === undefined ? undefined : signer.subjectOf(account);
  const record: LaneEntry = {
    ...rest,
    ...(await sealDetail(executor, signer, { entryId, subject }, { reason, detail })),
    entryId,
    at,
    occurrences: 1,
    subjects: subject && [subject],
    eventIds: eventIds?.length === 0 ? undefined : eventIds,
    detail: references && JSON.stringify(references),
  };
  await insertEntries(executor, [signer.sign(record)]);
  // guard(drop): a review of break-glass is open from the start
  if (breakGlass) await insertReview(executor, signer, { entryId, subject: subject ?? null });
  return entryId;
}

const FLUSH_EVERY_MS = 1_000;
/** Entries of requests without an account are written once a minute, so that a flood becomes one entry. */
const ANONYMOUS_EVERY_MS = 60_000;
/** On close, the last entries must be written within this time. A failed write is repeated after `CLOSE_RETRY_MS`. */
const CLOSE_WITHIN_MS = 3_000;
const CLOSE_RETRY_MS = 100;
/** Maximum number of events and of source addresses that one entry names. */
export const MAX_NAMED = 100;

/** A request to count. `peer` is the source address, for requests without an authenticated account. */
type CountedRequest = Pick<IngestAudit, "account" | "eventId" | "peer"> & {
  readonly outcome: string;
  readonly cause?: string;
};

/** What is counted, and how the entries are signed. */
export interface CountedRequests {
  readonly origin: Pick<LaneEntry, "actor" | "via" | "operation">;
  readonly lane: Pick<Lane, "sign" | "acknowledge" | "renew">;
  /** Whether each source address has entries of its own. */
  readonly isBySource: boolean;
  /**
   * Maximum number of groups in memory. If it is reached, requests of further accounts and addresses are counted
   * together.
   */
  readonly maxGroups: number;
}

const ofIngestion = (signer: AuditSigner): CountedRequests => ({
  origin: INGESTION,
  lane: signer.lane(),
  isBySource: false,
  maxGroups: 10_000,
});

interface Group {
  since: number;
  readonly outcome: string;
  readonly cause: string | undefined;
  readonly account: string | undefined;
  readonly source: string | undefined;
  occurrences: number;
  readonly eventIds: Set<string>;
  readonly sources: Map<string, number>;
}

/**
 * Counts requests by outcome and account or source address: rejections, replays and event warnings of ingestion, or
 * false credentials of the admin API. It writes the counts every second, but those of requests without an account every
 * minute.
 */
export class BufferedAuditLog implements AuditLog {
  readonly #executor: Executor;
  readonly #signer: AuditSigner;
  readonly #counted: CountedRequests;
  readonly #onError: OnError;
  readonly #loop: Loop;
  #groups = new Map<string, Group>();
  #writing: Promise<void> = Promise.resolve();

  constructor(executor: Executor, signer: AuditSigner, onError: OnError, counted = ofIngestion(signer)) {
    this.#executor = executor;
    this.#signer = signer;
    this.#counted = counted;
    this.#onError = onError;
    this.#loop = new Loop(() => this.flush(false), {
      everyMs: FLUSH_EVERY_MS,
      onError: (error) => onError(error, "audit write"),
    });
  }

  record({ outcome, cause, account, eventId, peer }: CountedRequest): void {
    const source = peer === undefined ? undefined : sourceOf(peer);
    const group = this.#group({ outcome, cause, account, source: this.#counted.isBySource ? source : undefined });
    group.occurrences++;
    if (eventId !== undefined && group.eventIds.size < MAX_NAMED) group.eventIds.add(eventId);
    if (source !== undefined) countSource(group, source, 1);
  }

  /**
   * Writes the counted requests. Counts that can't be written are kept for the next call.
   * @param everything whether to also write counts of requests without an account that are not a minute old.
   */
  flush(everything: boolean): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write(everything));
    return this.#writing;
  }

  /**
   * Writes the last entries. If the database is unavailable, the write is repeated for some seconds; then the entries
   * are lost.
   */
  async close(stop?: AbortSignal): Promise<void> {
    const deadline = performance.now() + CLOSE_WITHIN_MS;
    await this.#loop.close();
    const mayRetry = (): boolean => this.#groups.size > 0 && performance.now() < deadline && stop?.aborted !== true;
    await this.flush(true);
    while (mayRetry()) {
      await sleep(CLOSE_RETRY_MS);
      await this.flush(true);
    }
  }

  #group({ outcome, cause, account, source }: Pick<Group, "outcome" | "cause" | "account" | "source">): Group {
    const ofAll = `${outcome}\n${cause ?? ""}\n`;
    const groupName = `${ofAll}${account ?? source ?? ""}`;
    // guard(false): a caller with many addresses neither fills the memory nor the log
    const isFull = this.#groups.size >= this.#counted.maxGroups && !this.#groups.has(groupName);
    const name = isFull ? ofAll : groupName;
    const existing = this.#groups.get(name);
    if (existing) return existing;
    const group: Group = {
      since: this.#signer.clock.now(),
      outcome,
      cause,
      account: isFull ? undefined : account,
      source: isFull ? undefined : source,
      occurrences: 0,
      eventIds: new Set(),
      sources: new Map(),
    };
    this.#groups.set(name, group);
    return group;
  }

  async #write(everything: boolean): Promise<void> {
    const now = this.#signer.clock.now();
    const due = [...this.#groups].filter(
      ([, group]) => everything || group.account !== undefined || now - group.since >= ANONYMOUS_EVERY_MS,
    );
    if (due.length === 0) return;
    for (const [name] of due) this.#groups.delete(name);
    const signed = this.#counted.lane.sign(due.map(([, group]) => this.#recordOf(group, now)));
    try {
      await insertEntries(this.#executor, signed);
      this.#counted.lane.acknowledge();
    } catch (error) {
      this.#counted.lane.renew();
      this.#onError(error, "audit write");
      for (const [, group] of due) this.#keep(group);
    }
  }

  #recordOf({ outcome, cause, account, occurrences, eventIds, sources, since }: Group, now: number): LaneEntry {
    const ofSources = { since: new Date(since).toISOString(), sources: Object.fromEntries(sources) };
    const detail = { ...(cause !== undefined && { cause }), ...(sources.size > 0 && ofSources) };
    return {
      ...this.#counted.origin,
      entryId: uuidv7(now),
      at: now,
      outcome,
      occurrences,
      subjects: account === undefined ? undefined : [this.#signer.subjectOf(account)],
      eventIds: eventIds.size === 0 ? undefined : [...eventIds],
      detail: Object.keys(detail).length === 0 ? undefined : JSON.stringify(detail),
    };
  }

  /** Merges the counts of a failed write with newer counts. */
  #keep(kept: Group): void {
    const { since, occurrences, eventIds, sources } = kept;
    const group = this.#group(kept);
    group.since = Math.min(group.since, since);
    group.occurrences += occurrences;
    for (const id of eventIds) if (group.eventIds.size < MAX_NAMED) group.eventIds.add(id);
    for (const [source, count] of sources) countSource(group, source, count);
  }
}

function countSource({ sources }: Group, source: string, count: number): void {
  if (sources.has(source) || sources.size < MAX_NAMED) sources.set(source, (sources.get(source) ?? 0) + count);
}

export interface AuditRow {
  readonly entry_id: string;
  readonly at: string;
  readonly actor: string;
  readonly via: Via;
  readonly roles: readonly string[] | null;
  readonly operation: string;
  readonly outcome: string;
  /** The account, if the filter names it; otherwise its keyed MAC in hexadecimal. */
  readonly account: string | null;
  readonly event_id: string | null;
  readonly occurrences: number;
  readonly reason: string | null;
  readonly detail: unknown;
  /** Whether reason and detail can't be opened: their secret is destroyed or lost, or the record was changed. */
  readonly unreadable: boolean;
  readonly category: string | null;
  readonly ticket: string | null;
  readonly case_id: string | null;
  readonly approval_id: string | null;
  /**
   * Whether a worker found the MAC of the entry valid; `null` if no worker has checked it yet. An entry whose MAC is
   * invalid is no person's act: it has no actor, reason or detail.
   */
  readonly verified: boolean | null;
}

export interface AuditFilter {
  readonly eventId?: string;
  readonly account?: NamedAccount;
  /** With `account`: also the entries of erasures of the subjects with these keyed MACs in hexadecimal. */
  readonly erased?: readonly string[];
  /**
   * Only entries of this person's actions through the admin API. Such a list shows no account in entries about cases of
   * an event, and a filter by account does not find them, because the person may have opened a case of an event that
   * they can't see, such as a restricted one.
   */
  readonly person?: string;
  /** With `person`: also the entries under this name, which no person has. */
  readonly also?: string;
  /** Only entries of this person: of calls of the admin API, and of commands on the database under this name. */
  readonly by?: string;
  readonly operation?: string;
  /** Only entries at this time or later, and before the time `until`; milliseconds since the Unix epoch. */
  readonly since?: number;
  readonly until?: number;
  readonly limit: number;
  /** The entry at which the list continues, and the number of this entry's rows to skip. */
  readonly from?: { readonly entryId: string; readonly skip: number };
}

/**
 * The entry of a commit batch is written at most this long after the events were received. This time is far longer than
 * an event waits for its batch.
 */
export const BATCH_WITHIN = "5 minutes";

function composeAudit(filter: AuditFilter): { text: string; values: unknown[] } {
  const { eventId, account, erased, person, also, by, operation, since, until, limit, from } = filter;
  const values: unknown[] = [eventId ?? null, account?.subject ?? null, limit];
  let candidates = "";
  let conditions = "";
  let start = "";
  let offset = "";
  let isShown = "true";
  let ofErasure = "false";
  if (erased !== undefined) {
    ofErasure = `a.operation = 'erase.run' and a.detail ->> 'subject_mac' = any ($${values.push(erased)}::text[])`;
  }
  if (person !== undefined) {
    isShown = "not (a.operation in ('case.open', 'case.close') and a.event_id is not null)";
    const names = [person, ...(also === undefined ? [] : [also])].map((name) => `$${values.push(name)}`);
    // guard: an entry that a login of the database inserted is no entry of the person that it names
    conditions = `and l.verified is distinct from false and a.via in ('api', 'console', 'cli') and ${personSql("a.actor")} in (${names.join(", ")})`;
  }
  if (by !== undefined) {
    const ofPerson = `${personSql("a.actor")} = $${values.push(by)}`;
    // guard: an entry that a login of the database inserted is not found by the person that it names
    conditions += ` and l.verified is distinct from false
      and (a.via in ('api', 'console', 'cli') and ${ofPerson} or a.via = 'direct' and ${ofPerson})`;
  }
  if (operation !== undefined) conditions += ` and a.operation = $${values.push(operation)}`;
  if (since !== undefined) conditions += ` and a.at >= to_timestamp($${values.push(since)}::float8 / 1000)`;
  if (until !== undefined) conditions += ` and a.at < to_timestamp($${values.push(until)}::float8 / 1000)`;
  if (eventId !== undefined) {
    // Each of the three conditions uses an index. An entry of a commit batch is found by its time, because the id of an
    // event contains the time at which the event was received.
    const received = `$${values.push(receivedAtOf(eventId).toISOString())}::timestamptz`;
    candidates = `and (a.event_id = $1 or (a.subjects is null and a.event_ids @> array[$1::uuid])
      or (a.subjects is not null and a.at between ${received} and ${received} + interval '${BATCH_WITHIN}'))`;
  }
  if (from !== undefined) {
    start = `and (a.at, a.entry_id) <= (select s.at, s.entry_id from audit_entry s where s.entry_id = $${values.push(from.entryId)})`;
    offset = `offset $${values.push(from.skip)}`;
  }
  const text = `select a.entry_id, ${instant("a.at", "at")}, a.actor, a.via, a.roles, a.operation, a.outcome, l.verified,
        case when ${isShown} then encode(coalesce(a.subject, m.subject), 'hex') end as account, coalesce(a.event_id, m.event_id) as event_id,
        case when m.event_id is null then a.occurrences else 1 end as occurrences, a.reason, a.detail,
        a.category, a.ticket, a.case_id, a.approval_id, case when a.secret_id is not null then a.record end as sealed_in
      from audit_entry a left join audit_leaf l on l.entry_id = a.entry_id
      left join lateral (
        select u.subject, u.event_id, u.position
        from unnest(a.subjects, a.event_ids) with ordinality as u (subject, event_id, position)
        where ($1::uuid is null or u.event_id = $1) and ($2::bytea is null or coalesce(u.subject, a.subject) = $2)
      ) m on a.event_ids is not null
      where ($1::uuid is null or a.event_id = $1 or m.event_id is not null)
        and ($2::bytea is null or a.subject = $2 or m.subject is not null or (${ofErasure}))
        -- guard(true): the entry of a case of an event does not confirm whose event it is
        and ($2::bytea is null or ${isShown})
        ${candidates} ${conditions} ${start}
      order by a.at desc, a.entry_id desc, m.position
      limit $3 ${offset}`;
  return { text, values };
}

/** The query of `listAudit`, for a caller that reads rows one by one and opens them with `openRow`. */
export const auditQuery = composed(
  composeAudit,
  {
    entry_id: "uuid",
    at: "text",
    actor: "text",
    via: narrowed<Via>("text"),
    roles: "text[]?",
    operation: "text",
    outcome: "text",
    account: "text?",
    event_id: "uuid?",
    occurrences: "int8",
    reason: "text?",
    detail: "jsonb?",
    category: "text?",
    ticket: "text?",
    case_id: "uuid?",
    approval_id: "uuid?",
    verified: "bool?",
    sealed_in: "bytea?",
  },
  [
    [{ limit: 1 }],
    [{ eventId: "00000000-0000-0000-0000-000000000000", limit: 1 }],
    [{ person: "", limit: 1 }],
    [{ person: "", account: { name: "", subject: Buffer.alloc(0) }, erased: [], limit: 1 }],
    [{ by: "", operation: "", since: 0, until: 0, limit: 1 }],
    [{ from: { entryId: "00000000-0000-0000-0000-000000000000", skip: 0 }, limit: 1 }],
  ],
);

/** A row of `auditQuery`. */
export interface SealedAuditRow extends Omit<AuditRow, "unreadable"> {
  /** The record that contains the sealed reason and detail, if the entry has them. */
  readonly sealed_in: Buffer | null;
}

/** Opens the key store when the first sealed text is read. */
type FindSecrets = () => Secrets | Promise<Secrets>;

/** Shown in place of the actor of an entry whose MAC is invalid. */
export const UNVERIFIED_ACTOR = "unverified";
const NOBODY = { actor: UNVERIFIED_ACTOR, roles: null, reason: null, detail: null } as const;

/** Opens reason and detail. @throws Unavailable */
export async function openRow(findSecrets: FindSecrets, { sealed_in, ...row }: SealedAuditRow): Promise<AuditRow> {
  // guard: what a login of the database inserted is not shown as a person's act
  if (row.verified === false) return { ...row, ...NOBODY, unreadable: true };
  if (!sealed_in) return { ...row, unreadable: false };
  const record = decodeRecord(sealed_in);
  const opened = record && (await openDetail(await findSecrets(), record));
  if (!opened) return { ...row, unreadable: true };
  const { reason = null, detail } = opened;
  const references = row.detail as Readonly<Record<string, unknown>> | null;
  return { ...row, reason, detail: detail || references ? { ...references, ...detail } : null, unreadable: false };
}

/**
 * Lists entries, newest first. An entry about several events appears once for each event that the filter matches.
 * @throws Unavailable
 */
export async function listAudit(
  executor: Executor,
  findSecrets: FindSecrets,
  filter: AuditFilter,
): Promise<readonly AuditRow[]> {
  const { rows } = await queryComposed(executor, auditQuery(filter));
  const { account } = filter;
  const opened: AuditRow[] = [];
  for (const row of rows) {
    const shown = await openRow(findSecrets, row);
    opened.push(account ? { ...shown, account: account.name } : shown);
  }
  return opened;
}
