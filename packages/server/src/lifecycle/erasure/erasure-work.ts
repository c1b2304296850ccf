import { plural } from "../../base/messages/plural.ts";
import { type Work, WORK_READ } from "../../base/work.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { query, type RowOf, sql } from "../../store/postgres/statement.ts";
import { NEXT_PASS } from "../retention/retention-work.ts";

const TYPES = {
  erasure_id: "uuid",
  began_at: "text",
  actor: "text",
  unfinished: "bool",
  events: "int8",
  held: "int8",
  copies: "int8",
  is_held: "bool",
} as const;
const COPIES = "from held_event c where c.erased_by = e.sequence";
const LIST = sql(
  `select erasure_id, ${instant("began_at")}, actor, finished_at is null as unfinished, events, held,
      (select count(*) ${COPIES}) as copies,
      exists (select 1 ${COPIES} and is_held(c.account, c.action_id, c.event_id)) as is_held
    from erasure e where finished_at is null or (held > 0 and completed_at is null)
    order by e.began_at, sequence limit ${WORK_READ}`,
  [],
  TYPES,
);

/** Erasures that are not finished, or of which a hold keeps copies. @param isMaintained whether a process has the lock. */
export async function listErasureWork(executor: Executor, isMaintained: boolean): Promise<readonly Work[]> {
  const { rows } = await query(executor, LIST);
  return rows.map((row) => ({
    kind: "erasure",
    id: row.erasure_id,
    started_at: row.began_at,
    started_by: row.actor,
    ...(row.unfinished ? ofEvents(row, isMaintained) : ofCopies(row)),
  }));
}

type Row = RowOf<typeof TYPES>;
type Progress = Pick<Work, "state" | "done" | "of" | "unit" | "waits_for">;

const ofEvents = ({ events }: Row, isMaintained: boolean): Progress => ({
  state: isMaintained ? "running" : "waiting",
  done: events,
  of: null,
  unit: "events",
  waits_for: isMaintained ? null : NEXT_PASS,
});

const ofCopies = ({ held, copies, is_held: isHeld }: Row): Progress => ({
  state: "waiting",
  done: Math.max(0, held - copies),
  of: held,
  unit: "copies of held events",
  waits_for: isHeld ? `the end of the holds that keep ${plural(copies, "copy", "copies")}: drs hold list` : NEXT_PASS,
});
