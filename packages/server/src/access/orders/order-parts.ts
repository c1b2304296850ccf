/**
 * The parts of an answer that is a stream. A worker writes the parts, and a process of the admin API reads each part
 * once.
 */
import type { Executor } from "../../store/postgres/executor.ts";
import { query, sql } from "../../store/postgres/statement.ts";

const INSERT = sql("insert into admin_order_part (order_id, number, content) values ($1, $2, $3)", [
  "uuid",
  "int4",
  "bytea",
]);
const COUNT = sql("select count(*) as parts from admin_order_part where order_id = $1", ["uuid"], { parts: "int8" });
const TAKE = sql(
  `delete from admin_order_part where order_id = $1
      and number = (select min(p.number) from admin_order_part p where p.order_id = $1)
    returning number, content`,
  ["uuid"],
  { number: "int4", content: "bytea" },
);
const DELETE = sql("delete from admin_order_part where order_id = $1", ["uuid"]);

export interface AnswerPart {
  /** The number, counted from 1. */
  readonly number: number;
  /** The sealed content. */
  readonly content: Buffer;
}

export async function insertPart(executor: Executor, orderId: string, { number, content }: AnswerPart): Promise<void> {
  await query(executor, INSERT, [orderId, number, content]);
}

/** Counts the parts that have not been read. */
export async function countParts(executor: Executor, orderId: string): Promise<number> {
  return (await query(executor, COUNT, [orderId])).rows[0]?.parts ?? 0;
}

/** Reads and deletes the first part that has not been read. */
export async function takePart(executor: Executor, orderId: string): Promise<AnswerPart | undefined> {
  return (await query(executor, TAKE, [orderId])).rows[0];
}

export async function deleteParts(executor: Executor, orderId: string): Promise<void> {
  await query(executor, DELETE, [orderId]);
}
