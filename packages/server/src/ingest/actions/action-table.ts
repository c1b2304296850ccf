import { randomUUID } from "node:crypto";
import { ensureAccountId } from "../../store/accounts/accounts.ts";
import { LimitedMap } from "../../base/caches/limited-map.ts";
import type { ActionRefusal, ActionRegistry, Clock, RegisteredAction } from "../../base/ports.ts";
import { asUnavailable } from "../../store/postgres/errors.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { textArray } from "../../store/postgres/binary-array.ts";
import { MicroBatcher } from "../../store/postgres/micro-batcher.ts";
import { instant } from "../../store/postgres/instant.ts";
import { FIRST_PAGE, isAfter, type KeysetPage, positionValues } from "../../store/postgres/keyset.ts";
import { query, sql } from "../../store/postgres/statement.ts";

export interface NewAction {
  readonly account: string;
  readonly actionType: string;
  /** The id of the action. If it is absent, the server generates one. */
  readonly actionId?: string;
  readonly sessionId?: string;
  readonly ttlMs: number;
}

export interface ActionRow {
  readonly action_id: string;
  readonly action_type: string;
  readonly account: string;
  readonly session_id: string | null;
  readonly expires_at: string;
  readonly revoked_at: string | null;
}

const COLUMNS = `action_id, action_type, account, session_id, ${instant("expires_at")}, ${instant("revoked_at")}`;

const ACTION_TYPES = {
  action_id: "text",
  action_type: "text",
  account: "text",
  session_id: "text?",
  expires_at: "text",
  revoked_at: "text?",
} as const;

const REGISTER_ACTION = sql(
  `insert into action (account, action_id, action_type, session_id, registered_at, expires_at)
      values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
  ["text", "text", "text", "text?", "timestamptz", "timestamptz"],
);

const FIND_SAME_ACTION = sql(
  `select ${COLUMNS} from action where account = $1 and action_id = $2 and action_type = $3
      and session_id is not distinct from $4 and revoked_at is null`,
  ["text", "text", "text", "text?"],
  ACTION_TYPES,
);

/**
 * Registers an action, unique per (account, id). A second registration with the same type and session changes nothing
 * and returns the first one, with its expiry. A second registration with another type or session, or of a revoked
 * action, returns `undefined`.
 */
export async function registerAction(
  executor: Executor,
  clock: Clock,
  action: NewAction,
): Promise<ActionRow | undefined> {
  const actionId = action.actionId ?? `act_${randomUUID()}`;
  const now = clock.now();
  await ensureAccountId(executor, action.account);
  await query(executor, REGISTER_ACTION, [
    action.account,
    actionId,
    action.actionType,
    action.sessionId ?? null,
    new Date(now).toISOString(),
    new Date(now + action.ttlMs).toISOString(),
  ]);
  const { rows } = await query(executor, FIND_SAME_ACTION, [
    action.account,
    actionId,
    action.actionType,
    action.sessionId ?? null,
  ]);
  return rows[0];
}

const REVOKE_ACTION = sql(
  "update action set revoked_at = $3 where account = $1 and action_id = $2 and revoked_at is null",
  ["text", "text", "timestamptz"],
);

/** @returns whether the action existed and was not revoked before. */
export async function revokeAction(
  executor: Executor,
  clock: Clock,
  account: string,
  actionId: string,
): Promise<boolean> {
  const { rowCount } = await query(executor, REVOKE_ACTION, [account, actionId, new Date(clock.now()).toISOString()]);
  return rowCount === 1;
}

// guard(no-rows): actions of the account are deleted
const DELETE_ACTIONS = sql("delete from action where account = $1", ["text"]);

/** @returns the number of deleted actions. */
export async function deleteActions(executor: Executor, account: string): Promise<number> {
  return (await query(executor, DELETE_ACTIONS, [account])).rowCount ?? 0;
}

const COUNT_ACTIONS = sql("select count(*) as count from action where account = $1", ["text"], { count: "int8" });

export async function countActions(executor: Executor, account: string): Promise<number> {
  return (await query(executor, COUNT_ACTIONS, [account])).rows[0]?.count ?? 0;
}

const LIST_ACTIONS = sql(
  `select ${COLUMNS}, ${instant("registered_at")} from action where ($1::text is null or account = $1)
      and ${isAfter("action.registered_at", "$2", { action_id: "$3", account: "$4" })}
    order by action.registered_at desc, action_id, account limit $5::int4`,
  ["text?", "timestamptz?", "text?", "text?", "int4"],
  { ...ACTION_TYPES, registered_at: "text" },
);

export interface ListedAction extends ActionRow {
  readonly registered_at: string;
}

/** Lists actions, newest first. */
export async function listActions(
  executor: Executor,
  account: string | undefined,
  page: KeysetPage = FIRST_PAGE,
): Promise<readonly ListedAction[]> {
  const [at = null, actionId = null, of = null] = positionValues(page, 2);
  const { rows } = await query(executor, LIST_ACTIONS, [account ?? null, at, actionId, of, page.limit]);
  return rows;
}

/** The time for which a server remembers an action, and so may accept it after its revocation. */
const REMEMBER_MS = 5_000;
const MAX_REMEMBERED = 50_000;

const FIND_ACTIONS = sql(
  `select asked.account, asked.action_id, a.action_type, a.session_id,
        extract(epoch from a.expires_at)::float8 * 1000 as expires_ms, a.revoked_at is not null as is_revoked,
        a.action_id is null and exists (select 1 from action o where o.action_id = asked.action_id) as is_of_another
      from unnest($1::text[], $2::text[]) as asked (account, action_id)
      left join action a
        -- guard(true): an action is found only for the account for which it was registered
        on a.account = asked.account
        and a.action_id = asked.action_id`,
  ["text[]", "text[]"],
  {
    account: "text",
    action_id: "text",
    action_type: "text?",
    session_id: "text?",
    expires_ms: "float8?",
    is_revoked: "bool",
    is_of_another: "bool",
  },
);

/**
 * An action registry that reads the table. For five seconds it remembers each action that it found. It does not
 * remember that an action was absent.
 */
export function actionTable(executor: Executor, clock: Clock): ActionRegistry {
  const remembered = new LimitedMap<{ readonly action: RegisteredAction; readonly until: number }>(MAX_REMEMBERED);
  const lookUps = new MicroBatcher<ActionName, FoundAction>({
    work: findAll,
    maxItems: 256,
    parallelBatches: 1,
  });

  async function findAll(names: readonly ActionName[]): Promise<readonly FoundAction[]> {
    const { rows } = await query(executor, FIND_ACTIONS, [
      textArray(names.map(({ account }) => account)),
      textArray(names.map(({ actionId }) => actionId)),
    ]).catch((error: unknown) => {
      throw asUnavailable(error);
    });
    const foundRows = new Map(rows.map((row) => [cacheKeyOf({ account: row.account, actionId: row.action_id }), row]));
    return names.map((name) => {
      const row = foundRows.get(cacheKeyOf(name));
      if (row?.is_of_another) return "other-account";
      // guard: a revoked action is refused
      if (row?.is_revoked) return "expired";
      if (!row || row.action_type === null || row.expires_ms === null) return undefined;
      const session = row.session_id === null ? {} : { sessionId: row.session_id };
      return { actionType: row.action_type, expiresAt: row.expires_ms, ...session };
    });
  }

  return {
    async find(account, actionId) {
      const name = cacheKeyOf({ account, actionId });
      const rememberedEntry = remembered.get(name);
      if (rememberedEntry && clock.now() < rememberedEntry.until) return rememberedEntry.action;
      remembered.delete(name);
      const action = await lookUps.add({ account, actionId });
      if (typeof action !== "object") return action;
      remembered.set(name, { action, until: clock.now() + REMEMBER_MS });
      return action;
    },
  };
}

type FoundAction = RegisteredAction | ActionRefusal | undefined;

interface ActionName {
  readonly account: string;
  readonly actionId: string;
}

/** Neither the account nor the id can contain U+0000, so the joined text is unambiguous. */
function cacheKeyOf({ account, actionId }: ActionName): string {
  return `${account}\0${actionId}`;
}
