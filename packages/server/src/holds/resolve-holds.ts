import type { LedgerNames } from "../seal/ledger-names.ts";
import type { Executor } from "../store/database.ts";

/** Names that are compared at once. */
const PAGE = 10_000;

/** Where each kind of subject is found by its name: everything that is kept, or is yet to come, of it. */
const NAMES = {
  account: ["account_identity", "session_token", "action", "idempotency_key"].map(
    (table) => [table, "account"] as const,
  ),
  action_id: ["action", "kept_event"].map((table) => [table, "action_id"] as const),
};

type SubjectKind = keyof typeof NAMES;

interface UnresolvedHold {
  readonly hold_id: string;
  readonly subject_kind: SubjectKind;
  readonly mac: string;
}

/**
 * Looks for the subjects of holds that a replay brought back: the journal knows keyed MACs of names, not the names. Before
 * anything is deleted; a hold whose subject is not there yet is looked for again by the next call.
 */
export async function resolveHolds(executor: Executor, names: LedgerNames): Promise<void> {
  const { rows } = await executor.query<UnresolvedHold>(
    `select hold_id, subject_kind, encode(subject_mac, 'hex') as mac from legal_hold
      where lifted_at is null and num_nonnulls(account, action_id, event_id) = 0`,
  );
  for (const kind of Object.keys(NAMES) as SubjectKind[]) {
    const wanted = new Map<string, string[]>();
    for (const { hold_id, subject_kind, mac } of rows) {
      if (subject_kind === kind) wanted.set(mac, [...(wanted.get(mac) ?? []), hold_id]);
    }
    if (wanted.size > 0) await resolve(executor, names, kind, wanted);
  }
}

async function resolve(
  executor: Executor,
  names: LedgerNames,
  kind: SubjectKind,
  wanted: Map<string, readonly string[]>,
): Promise<void> {
  for (const [table, column] of NAMES[kind]) {
    const page = `select distinct ${column} as name from ${table} where ${column} > $1 order by ${column} limit ${PAGE}`;
    for (let last: string | undefined = ""; last !== undefined && wanted.size > 0;) {
      const { rows }: { rows: { name: string }[] } = await executor.query<{ name: string }>(page, [last]);
      for (const { name } of rows) {
        const mac = names.heldSubjectOf(kind, name).toString("hex");
        for (const holdId of wanted.get(mac) ?? []) await executor.query("select resolve_hold($1, $2)", [holdId, name]);
        wanted.delete(mac);
      }
      last = rows.length === PAGE ? rows.at(-1)?.name : undefined;
    }
  }
}
