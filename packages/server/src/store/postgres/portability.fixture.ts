/**
 * What a statement that writes must not contain, because Citus does not run it on a distributed schema. Each rule says
 * what PostgreSQL and Citus both run instead.
 */
import type pg from "pg";
import { isNode, nodesOf, type TreeNode, type TreeValue } from "./query-tree.fixture.ts";

export const RULES = {
  volatile: "UPDATE or DELETE with a volatile function: write (select wall_clock_time())",
  returning: "RETURNING with a stable function: write with t as (… returning *) select … from t",
  values: "INSERT … VALUES with a subquery: write with n as materialized (select …) insert … select … from n",
  column: "UPDATE or DELETE with a stable function of a column: write (select received_at + …), or not exists (…)",
  conditional: "CASE or COALESCE with a stable function: write coalesce(…, (select transaction_time()))",
  stable: "INSERT … SELECT from a table, with a stable function or default: read with n as materialized (select …)",
  join: "INSERT … SELECT from a join, with a volatile function or default: read with n as materialized (select …)",
  conflict: "ON CONFLICT with a stable function: compute the value in the SELECT, and take it from `excluded`",
} as const;
export type Rule = keyof typeof RULES;

/** Finds the rules that a query tree violates. */
export type Lint = (tree: TreeNode) => readonly Rule[];

export async function createLint(client: pg.Client): Promise<Lint> {
  const { rows } = await client.query<{ oid: string; volatility: string }>(
    "select oid::text, provolatile as volatility from pg_proc where provolatile <> 'i'",
  );
  const volatilities = new Map<TreeValue | undefined, string>(rows.map(({ oid, volatility }) => [oid, volatility]));
  const isVolatile = (node: TreeNode): boolean =>
    node.type === "NEXTVALUEEXPR" || volatilities.get(calledBy(node)) === "v";
  const isStable = (node: TreeNode): boolean => STABLE_NODES.has(node.type) || volatilities.get(calledBy(node)) === "s";
  const isMutable = (node: TreeNode): boolean => isVolatile(node) || isStable(node);
  const calls = (value: TreeValue | undefined): boolean => nodesOf(value).some(isMutable);

  const checks: Readonly<Record<Rule, (query: TreeNode) => boolean>> = {
    volatile: (query) => nodesOf(changesOf(query), isEvaluated).some(isVolatile),
    returning: ({ returningList }) => calls(returningList),
    values: (query) => isInsert(query) && query["hasSubLinks"] === "true" && sourceOf(query) === undefined,
    column: (query) =>
      nodesOf(changesOf(query), isNoSublink)
        .filter(isStable)
        .some((node) => nodesOf(node, isNoSublink).some(({ type }) => type === "VAR")),
    conditional: (query) =>
      nodesOf(changesOf(query), isNoSublink)
        .filter(({ type }) => CONDITIONAL.test(type))
        .some((node) => nodesOf(node, isEvaluated).some(isMutable)),
    stable: (query) => {
      const read = readBy(query);
      return read.some(isStable) && !read.some(isVolatile) && read.some((node) => tablesOf(node) > 0);
    },
    join: (query) => {
      const read = readBy(query);
      return read.some(isVolatile) && read.some((node) => tablesOf(node) > 1);
    },
    conflict: ({ onConflict }) => calls(onConflict),
  };
  return (tree) => {
    const queries = nodesOf(tree).filter(({ type }) => type === "QUERY");
    return (Object.keys(RULES) as Rule[]).filter((rule) => queries.some(checks[rule]));
  };
}

/** Conversions by the input and output functions of types, of which some are stable, and `current_user` and the like. */
const STABLE_NODES = new Set(["COERCEVIAIO", "SQLVALUEFUNCTION"]);
const CONDITIONAL = /^(CASE|COALESCE)(EXPR)?$/;

const calledBy = ({ funcid, opfuncid }: TreeNode): TreeValue | undefined => funcid ?? opfuncid;

/** `commandType` of a query. */
const COMMANDS = { update: "2", insert: "3", delete: "4" };
export const isWrite = ({ type, commandType }: TreeNode): boolean =>
  type === "QUERY" && Object.values<unknown>(COMMANDS).includes(commandType);
const isInsert = ({ type, commandType }: TreeNode): boolean => type === "QUERY" && commandType === COMMANDS.insert;

const listOf = (value: TreeValue | undefined): readonly TreeNode[] =>
  Array.isArray(value) ? (value as readonly TreeValue[]).filter(isNode) : [];

/** What an UPDATE or DELETE assigns, and its condition. */
function changesOf({ commandType, targetList, jointree }: TreeNode): readonly TreeValue[] {
  if (commandType !== COMMANDS.update && commandType !== COMMANDS.delete) return [];
  const condition = isNode(jointree) ? jointree["quals"] : undefined;
  return [...listOf(targetList).filter(({ resjunk }) => resjunk !== "true"), condition ?? null];
}

const isNoSublink = ({ type }: TreeNode): boolean => type !== "SUBLINK";

/** Citus first evaluates a subquery that refers to no column of the statement. */
const isEvaluated = (node: TreeNode): boolean => isNoSublink(node) || hasOuterColumn(node["subselect"], 0);

function hasOuterColumn(value: TreeValue | undefined, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (!isNode(value)) return value.some((item) => hasOuterColumn(item, depth));
  if (value.type === "VAR") return Number(value["varlevelsup"]) >= depth;
  const below = value.type === "QUERY" ? depth + 1 : depth;
  return Object.values(value).some((field) => hasOuterColumn(field, below));
}

/** The query of an INSERT … SELECT. */
const sourceOf = ({ rtable }: TreeNode): TreeNode | undefined =>
  listOf(rtable)
    .map(({ subquery }) => subquery)
    .find(isNode);

/** The nodes of an INSERT … SELECT, without what a materialized query or another change computes before. */
function readBy(query: TreeNode): readonly TreeNode[] {
  const source = isInsert(query) ? sourceOf(query) : undefined;
  if (!source) return [];
  return nodesOf([source, query["targetList"] ?? null, query["cteList"] ?? null], isInlined);
}

/** Whether the planner replaces a name of WITH by its query. */
const isInlined = ({ type, ctematerialized, cterefcount, ctequery }: TreeNode): boolean =>
  type !== "COMMONTABLEEXPR" ||
  (ctematerialized !== "1" && cterefcount === "1" && isNode(ctequery) && ctequery["commandType"] === "1");

/** The number of tables in the FROM clause of a query. */
function tablesOf({ type, rtable, jointree }: TreeNode): number {
  if (type !== "QUERY") return 0;
  const entries = listOf(rtable);
  const joined = nodesOf(jointree, isNoSublink).filter((node) => node.type === "RANGETBLREF");
  return joined.filter(({ rtindex }) => entries[Number(rtindex) - 1]?.["rtekind"] === "0").length;
}
