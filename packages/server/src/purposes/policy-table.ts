import { OperatorError } from "../base/errors/operator-error.ts";
import { excludeIngestion } from "../store/events/exclude-ingestion.ts";
import { plural } from "../base/messages/plural.ts";
import type { AuditSigner } from "../audit/audit-signer.ts";
import { type Agent, writeAudit } from "../audit/audit.ts";
import type { Executor, OwnerTransaction, Transaction } from "../store/postgres/executor.ts";
import { lockTransaction } from "../store/postgres/advisory-locks.ts";
import { LOCKS } from "../store/postgres/locks.ts";
import { findPartitions, RECENT_MS, releasingLocks } from "../store/events/partition-slices.ts";
import { eventSearch, searchEvents } from "../store/events/search-events.ts";
import { type Policy, type PurposeDefinition, REFUSE, type Sensitivity } from "./policy.ts";
import { instant } from "../store/postgres/instant.ts";
import { narrowed, query, queryRow, sql } from "../store/postgres/statement.ts";

export interface PurposeRow {
  readonly code: number;
  readonly id: string;
  readonly title: string;
  readonly legal_basis: string | null;
  readonly owner: string | null;
  /** ISO 8601; `null`: the purpose keeps events without end, or was retired before a policy gave it a period. */
  readonly raw_retention: string | null;
  readonly derived_retention: string | null;
  readonly probes: readonly string[] | null;
  readonly highest_sensitivity: Sensitivity | null;
  readonly beyond: "record" | "refuse";
  readonly export_attributes: readonly string[];
  readonly retired_at: string | null;
}

const statedPeriod = (period: string): string => `case when not assumed_periods then ${period}::text end as ${period}`;

const PURPOSE_COLUMNS = `code, id, title, legal_basis, owner, ${statedPeriod("raw_retention")}, ${statedPeriod("derived_retention")}, probes,
  highest_sensitivity, beyond, export_attributes, ${instant("retired_at")}`;

/** The active policy. */
export interface CurrentPolicy {
  /** 0 if no policy was applied yet. */
  readonly version: number;
  readonly purposes: readonly PurposeRow[];
  /** Action type to code. */
  readonly actions: ReadonlyMap<string, number>;
  /** `undefined`: events of other action types are refused. */
  readonly unmapped: number | undefined;
}

const POLICY_VERSION = sql("select coalesce(max(version), 0) as version from policy", [], { version: "int4" });

export async function readPolicyVersion(executor: Executor): Promise<number> {
  const { rows } = await query(executor, POLICY_VERSION);
  return rows[0]?.version ?? 0;
}

const POLICY_DOCUMENT = sql("select document from policy order by version desc limit 1", [], {
  document: narrowed<Policy>("jsonb"),
});

/** The document of the latest policy, as it was applied, or `undefined` if none was applied yet. */
export async function readPolicyDocument(executor: Executor): Promise<Policy | undefined> {
  return (await query(executor, POLICY_DOCUMENT)).rows[0]?.document;
}

const POLICY_OF_VERSION = sql("select document from policy where version = $1", ["int4"], {
  document: narrowed<Policy>("jsonb"),
});

/** The document of the policy with this version, or `undefined` for version 0: no policy was applied yet. */
export async function readPolicyVersionDocument(executor: Executor, version: number): Promise<Policy | undefined> {
  return (await query(executor, POLICY_OF_VERSION, [version])).rows[0]?.document;
}

const CURRENT_POLICY = sql("select version, unmapped from policy order by version desc limit 1", [], {
  version: "int4",
  unmapped: "int4?",
});

const LIST_PURPOSES = sql(`select ${PURPOSE_COLUMNS} from purpose order by code`, [], {
  code: "int4",
  id: "text",
  title: "text",
  legal_basis: "text?",
  owner: "text?",
  raw_retention: "text?",
  derived_retention: "text?",
  probes: "text[]?",
  highest_sensitivity: narrowed<Sensitivity | null>("text?"),
  beyond: narrowed<"record" | "refuse">("text"),
  export_attributes: "text[]",
  retired_at: "text?",
});

/** Lists the purposes, also the retired ones. */
export async function listPurposes(executor: Executor): Promise<readonly PurposeRow[]> {
  return (await query(executor, LIST_PURPOSES)).rows;
}

const LIST_MAPPINGS = sql("select action_type, purpose from purpose_mapping where policy_version = $1", ["int4"], {
  action_type: "text",
  purpose: "int4",
});

/** Reads the active policy, its version first: a policy that is applied meanwhile may add purposes, and removes none. */
export async function readCurrentPolicy(executor: Executor, builtIn: number): Promise<CurrentPolicy> {
  const { rows } = await query(executor, CURRENT_POLICY);
  const purposes = await listPurposes(executor);
  const [latest] = rows;
  if (!latest) return { version: 0, purposes, actions: new Map(), unmapped: builtIn };
  const { rows: mapped } = await query(executor, LIST_MAPPINGS, [latest.version]);
  const actions = new Map(mapped.map(({ action_type, purpose }) => [action_type, purpose]));
  return { version: latest.version, purposes, actions, unmapped: latest.unmapped ?? undefined };
}

const PURPOSE_IDS = sql("select code, id from purpose", [], { code: "int4", id: "text" });

/** Ids of purposes, also of retired ones, by the codes that events hold. */
export async function readPurposeIds(executor: Executor): Promise<ReadonlyMap<number, string>> {
  const { rows } = await query(executor, PURPOSE_IDS);
  return new Map(rows.map(({ code, id }) => [code, id]));
}

const REFUSED_ATTRIBUTES = sql(
  `select p.id, array(select name from unnest($2::text[]) as wanted (name)
      where not name = any (p.export_attributes)) as refused
    from purpose p where p.code = $1`,
  ["int4", "text[]"],
  { id: "text", refused: "text[]" },
);

/** Requires that the purpose allows these attributes in exports of features. @throws state-conflict */
export async function requireExportAttributes(
  executor: Executor,
  code: number,
  attributes: readonly string[],
): Promise<void> {
  const { id, refused } = await queryRow(executor, REFUSED_ATTRIBUTES, [code, attributes]);
  // guard(true): no export has an attribute that the policy does not allow
  if (refused.length === 0) return;
  throw new OperatorError(
    "state-conflict",
    `Purpose ${id} does not allow exports with ${refused.join(", ")}: add it to its export_attributes (drs purpose apply), or leave it out.`,
  );
}

const FIND_PURPOSE_CODE = sql("select code from purpose where id = $1", ["text"], { code: "int4" });

export async function findPurposeCode(executor: Executor, id: string): Promise<number | undefined> {
  return (await query(executor, FIND_PURPOSE_CODE, [id])).rows[0]?.code;
}

/** @throws not-found */
export async function requirePurposeCode(executor: Executor, id: string): Promise<number> {
  const code = await findPurposeCode(executor, id);
  if (code !== undefined) return code;
  throw new OperatorError("not-found", "Unknown purpose. Run drs purpose list to see the purposes.");
}

/** One change of a policy. */
export type Change =
  | {
      readonly purpose: string;
      readonly change: "added" | "changed" | "retired" | "removed";
      readonly members: readonly string[];
      /** The number of events under the purpose. */
      readonly events: number;
      /** The number of events whose raw event or derived values expire earlier by a new period. */
      readonly expire_earlier: number;
      /** The number of events that expire at once and that no hold keeps. */
      readonly expire_at_once: number;
    }
  | { readonly action_type: string; readonly from: string | null; readonly to: string | null }
  | { readonly unmapped: string; readonly from: string };

/** Number of events that expire earlier because of the changes. */
export const countEarlier = (changes: readonly Change[]): number =>
  changes.reduce((sum, change) => sum + ("members" in change ? change.expire_earlier : 0), 0);

export interface Applied {
  readonly version: number;
  readonly changes: readonly Change[];
}

/**
 * Counts the events of a purpose, by its code, of which only derived values are left, and which a new derived period
 * makes expire earlier or at once.
 */
export type CountDerivedEarlier = (
  executor: Executor,
  code: number,
  period: { readonly before: string | null; readonly after: string | null },
) => Promise<Omit<EventCounts, "events">>;

export interface CompareOptions {
  readonly builtIn: number;
  readonly countDerivedEarlier: CountDerivedEarlier;
}

export interface ApplyOptions extends CompareOptions {
  readonly agent: Agent;
  /** Called with the changes before the policy is applied. If it throws, the policy is not applied. */
  readonly confirm?: (changes: readonly Change[]) => Promise<void>;
  readonly approvalId?: string | undefined;
}

const INSERT_POLICY = sql(
  "insert into policy (version, applied_at, actor, unmapped, document) values ($1, $2, $3, $4, $5)",
  ["int4", "timestamptz", "text", "int4?", "jsonb"],
);

const INSERT_MAPPINGS = sql(
  `insert into purpose_mapping (policy_version, action_type, purpose)
      select $1, * from unnest($2::text[], $3::integer[])`,
  ["int4", "text[]", "int4[]"],
);

/** Finds the changes that a policy would make. @throws policy-incomplete, in the same cases as `applyPolicy` */
export async function comparePolicy(
  transaction: Transaction,
  policy: Policy,
  options: CompareOptions,
): Promise<Applied> {
  const { current, changes } = await compareWithCurrent(transaction, policy, options);
  return { version: current.version, changes };
}

/**
 * Applies a policy. The transaction waits for running commit batches before it writes the policy. Later batches choose
 * the purpose by this policy. Stored events keep their purpose, and a changed period also applies to them. A policy
 * that changes nothing gets no version, unless it is the first policy.
 *
 * @throws policy-incomplete if it leaves out a purpose that holds events.
 */
export async function applyPolicy(
  executor: OwnerTransaction,
  audit: AuditSigner,
  policy: Policy,
  { agent, confirm, approvalId, ...options }: ApplyOptions,
): Promise<Applied> {
  const { current, changes } = await compareWithCurrent(executor, policy, options);
  if (changes.length === 0 && current.version > 0) return { version: current.version, changes };
  await confirm?.(changes);

  // From here on, no batch commits under the replaced policy.
  await excludeIngestion(executor);
  await requireUnused(executor, omittedBy(policy, current), audit.clock.now() - RECENT_MS);
  const version = current.version + 1;
  const at = new Date(audit.clock.now()).toISOString();
  const codes = await writePurposes(executor, current, policy, at);
  await query(executor, INSERT_POLICY, [
    version,
    at,
    agent.actor,
    codes.get(policy.unmapped) ?? null,
    JSON.stringify(policy),
  ]);
  await query(executor, INSERT_MAPPINGS, [
    version,
    Object.keys(policy.actions),
    Object.values(policy.actions).map((id) => codeOf(codes, id)),
  ]);
  const detail = { version, changes: changes.length };
  const entry = { ...agent, operation: "policy.apply", outcome: "applied", detail };
  await writeAudit(executor, audit, { ...entry, ...(approvalId !== undefined && { approvalId }) });
  return { version, changes };
}

async function compareWithCurrent(
  transaction: Transaction,
  policy: Policy,
  { builtIn, countDerivedEarlier }: CompareOptions,
): Promise<{ readonly current: CurrentPolicy; readonly changes: readonly Change[] }> {
  await lockTransaction(transaction, LOCKS.policy);
  const current = await readCurrentPolicy(transaction, builtIn);
  const changes = [
    ...(await purposeChanges(transaction, current, policy, countDerivedEarlier)),
    ...actionChanges(current, policy),
    ...unmappedChange(current, policy),
  ];
  return { current, changes };
}

function codeOf(codes: ReadonlyMap<string, number>, id: string): number {
  const code = codes.get(id);
  if (code === undefined) throw new Error(`purpose ${id} has no code`);
  return code;
}

async function purposeChanges(
  executor: Transaction,
  current: CurrentPolicy,
  policy: Policy,
  countDerivedEarlier: CountDerivedEarlier,
): Promise<Change[]> {
  const changes: Change[] = [];
  for (const purpose of policy.purposes) {
    const existing = current.purposes.find(({ id }) => id === purpose.id);
    const members = existing ? await changedMembers(executor, existing, purpose) : [];
    if (existing && members.length === 0) continue;
    const retires = purpose.retired && members.includes("retired");
    const change = existing ? (retires ? "retired" : "changed") : "added";
    const counts = await countEvents(executor, existing, purpose);
    // guard: derived values that outlived their events and that a policy destroys are counted as their events
    if (existing && members.includes("derived_retention")) {
      const period = { before: existing.derived_retention, after: purpose.derived_retention };
      const derived = await countDerivedEarlier(releasingLocks(executor), existing.code, period);
      counts.expire_earlier += derived.expire_earlier;
      counts.expire_at_once += derived.expire_at_once;
    }
    changes.push({ purpose: purpose.id, change, members, ...counts });
  }
  const inUse: string[] = [];
  for (const existing of omittedBy(policy, current)) {
    const counts = await countEvents(executor, existing, undefined);
    // guard(left): a policy can't leave out a retired purpose that holds events
    if (existing.retired_at !== null && counts.events === 0) continue;
    // guard(drop): a policy can't leave out a purpose that holds events
    if (counts.events > 0) inUse.push(`${existing.id} (${plural(counts.events, "event")})`);
    changes.push({ purpose: existing.id, change: "removed", members: [], ...counts });
  }
  if (inUse.length > 0) throw leavesOut(inUse.join(", "));
  return changes;
}

const omittedBy = (policy: Policy, current: CurrentPolicy): readonly PurposeRow[] =>
  current.purposes.filter((existing) => !policy.purposes.some(({ id }) => id === existing.id));

const leavesOut = (inUse: string): OperatorError =>
  new OperatorError(
    "policy-incomplete",
    `the file leaves out purposes that hold events: ${inUse}. Name each, with retired: true if it takes no more`,
  );

const FIND_EVENTS = eventSearch({ view: "kept_event", select: "event_id", where: "purpose = $1" }, ["int4"], {
  event_id: "uuid",
});

/**
 * Looks for new events of omitted purposes. These purposes had no events when the events were counted.
 * @throws policy-incomplete
 */
async function requireUnused(executor: Transaction, omitted: readonly PurposeRow[], since: number): Promise<void> {
  for (const { code, id, retired_at } of omitted) {
    if (retired_at !== null) continue;
    const partitions = await findPartitions(executor, { purpose: code, from: since });
    for await (const _ of searchEvents(executor, FIND_EVENTS, partitions, [code])) throw leavesOut(id);
  }
}

const CHANGED_MEMBERS = sql(
  `select $1::interval is distinct from $2::interval as raw, $3::interval is distinct from $4::interval as derived`,
  ["interval?", "interval?", "interval?", "interval?"],
  { raw: "bool", derived: "bool" },
);

async function changedMembers(executor: Executor, existing: PurposeRow, purpose: PurposeDefinition): Promise<string[]> {
  const { rows } = await query(executor, CHANGED_MEMBERS, [
    existing.raw_retention,
    purpose.raw_retention,
    existing.derived_retention,
    purpose.derived_retention,
  ]);
  const same = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
  const differs: Record<string, boolean> = {
    title: existing.title !== purpose.title,
    legal_basis: existing.legal_basis !== purpose.legal_basis,
    owner: existing.owner !== purpose.owner,
    raw_retention: rows[0]?.raw ?? true,
    derived_retention: rows[0]?.derived ?? true,
    probes: !same(existing.probes, purpose.probes),
    highest_sensitivity: !same(existing.highest_sensitivity, purpose.highest_sensitivity),
    beyond: existing.beyond !== purpose.beyond,
    export_attributes: !same(existing.export_attributes, purpose.export_attributes ?? []),
    retired: (existing.retired_at !== null) !== purpose.retired,
  };
  return Object.keys(differs).filter((name) => differs[name]);
}

const COUNT_EVENTS = eventSearch(
  {
    view: "kept_event",
    select: `count(*) as events,
      count(*) filter (where received_at + $2::interval < coalesce(received_at + $3::interval, 'infinity')
        or received_at + $4::interval < coalesce(received_at + $5::interval, 'infinity')) as expire_earlier,
      count(*) filter (where received_at + $2::interval <= transaction_time()
      and (received_at + $3::interval <= transaction_time()) is not true
      and not (exists (select 1 from legal_hold where lifted_at is null) and is_held(account, action_id, event_id))) as expire_at_once`,
    where: "purpose = $1",
  },
  ["int4", "interval?", "interval?", "interval?", "interval?"],
  { events: "int8", expire_earlier: "int8", expire_at_once: "int8" },
);

interface EventCounts {
  events: number;
  expire_earlier: number;
  expire_at_once: number;
}

/** @param purpose the new definition; `undefined` if the policy leaves the purpose out. */
async function countEvents(
  executor: Transaction,
  existing: PurposeRow | undefined,
  purpose: PurposeDefinition | undefined,
): Promise<EventCounts> {
  const total = { events: 0, expire_earlier: 0, expire_at_once: 0 };
  if (!existing) return total;
  const partitions = await findPartitions(executor, { purpose: existing.code });
  const raw = [purpose?.raw_retention ?? null, existing.raw_retention] as const;
  const derived = [purpose?.derived_retention ?? null, existing.derived_retention] as const;
  const values = [existing.code, ...raw, ...derived] as const;
  for await (const row of searchEvents(releasingLocks(executor), COUNT_EVENTS, partitions, values)) {
    total.events += row.events;
    total.expire_earlier += row.expire_earlier;
    total.expire_at_once += row.expire_at_once;
  }
  return total;
}

function actionChanges(current: CurrentPolicy, policy: Policy): Change[] {
  const idOf = new Map(current.purposes.map(({ code, id }) => [code, id]));
  const before = new Map([...current.actions].map(([type, code]) => [type, idOf.get(code) ?? null]));
  const types = [...new Set([...before.keys(), ...Object.keys(policy.actions)])].toSorted();
  return types
    .map((type) => ({
      action_type: type,
      from: before.get(type) ?? null,
      to: Object.hasOwn(policy.actions, type) ? (policy.actions[type] ?? null) : null,
    }))
    .filter(({ from, to }) => from !== to);
}

function unmappedChange({ purposes, unmapped }: CurrentPolicy, policy: Policy): Change[] {
  const from = purposes.find(({ code }) => code === unmapped)?.id ?? REFUSE;
  return from === policy.unmapped ? [] : [{ unmapped: policy.unmapped, from }];
}

const UPSERT_PURPOSE = sql(
  `insert into purpose (code, id, title, legal_basis, owner, raw_retention, derived_retention, probes,
          highest_sensitivity, beyond, export_attributes, retired_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, case when $12 then $13::timestamptz end)
        on conflict (code) do update set title = excluded.title, legal_basis = excluded.legal_basis,
          owner = excluded.owner, raw_retention = excluded.raw_retention, derived_retention = excluded.derived_retention,
          probes = excluded.probes, highest_sensitivity = excluded.highest_sensitivity, beyond = excluded.beyond,
          export_attributes = excluded.export_attributes,
          retired_at = case when $12 then coalesce(purpose.retired_at, $13) end, assumed_periods = false`,
  [
    "int4",
    "text",
    "text",
    "text",
    "text",
    "interval",
    "interval",
    "text[]?",
    "text?",
    "text",
    "text[]",
    "bool",
    "timestamptz",
  ],
);

const RETIRE_OMITTED = sql(
  `update purpose set retired_at = $2, assumed_periods = raw_retention is null,
        raw_retention = coalesce(raw_retention, (select min(raw_retention) from purpose where code = any ($1))),
        derived_retention = coalesce(derived_retention, (select min(derived_retention) from purpose where code = any ($1)))
      where retired_at is null and not (code = any ($1))`,
  ["int4[]", "timestamptz"],
);

/** @returns the code of each purpose of the policy. A code is never given to a second purpose. */
async function writePurposes(
  executor: Executor,
  current: CurrentPolicy,
  policy: Policy,
  at: string,
): Promise<ReadonlyMap<string, number>> {
  const codes = new Map<string, number>();
  let highest = Math.max(...current.purposes.map(({ code }) => code));
  for (const purpose of policy.purposes) {
    const code = current.purposes.find(({ id }) => id === purpose.id)?.code ?? ++highest;
    codes.set(purpose.id, code);
    await query(executor, UPSERT_PURPOSE, [
      code,
      purpose.id,
      purpose.title,
      purpose.legal_basis,
      purpose.owner,
      purpose.raw_retention,
      purpose.derived_retention,
      purpose.probes ?? null,
      purpose.highest_sensitivity ?? null,
      purpose.beyond,
      purpose.export_attributes ?? [],
      purpose.retired,
      at,
    ]);
  }
  // An omitted purpose has no events. If it had no period, it gets the shortest one of the policy, so that its empty
  // partitions can be dropped.
  await query(executor, RETIRE_OMITTED, [[...codes.values()], at]);
  return codes;
}
