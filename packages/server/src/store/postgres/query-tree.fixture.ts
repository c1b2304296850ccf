/** Statements as the planner of PostgreSQL gets them: names are resolved, views expanded, and defaults added. */
import type pg from "pg";
import { createStatementDescriber } from "./describe-statement.fixture.ts";

/** A node of a query tree: its type and its fields, under PostgreSQL's own names for them. */
export interface TreeNode {
  readonly type: string;
  readonly [field: string]: TreeValue | undefined;
}
export type TreeValue = string | null | TreeNode | readonly TreeValue[];

export interface TreeReader {
  /** The trees of a statement, which is not run. */
  ofStatement(text: string): Promise<readonly TreeNode[]>;
  /** The trees of the statements of a function, which is not created. @param definition `create function …`. */
  ofFunction(definition: string): Promise<readonly TreeNode[]>;
}

/** @param client a connection of a superuser, whose settings and messages the reader uses. */
export async function createTreeReader(client: pg.Client): Promise<TreeReader> {
  const describeStatement = await createStatementDescriber(client);
  let trees: TreeNode[] = [];
  client.on("notice", ({ message, detail }) => {
    if (message?.startsWith("rewritten parse tree")) trees.push(...parseTrees(detail ?? ""));
  });
  const settings = { debug_print_rewritten: "on", debug_pretty_print: "off", client_min_messages: "log" };
  for (const [name, value] of Object.entries({ ...settings, log_min_messages: "fatal" })) {
    await client.query(`set ${name} = ${value}`);
  }
  const treesOf = async (work: () => Promise<unknown>): Promise<readonly TreeNode[]> => {
    trees = [];
    await work();
    return trees;
  };
  return {
    ofStatement: (text) => treesOf(() => describeStatement(text)),
    ofFunction: (definition) =>
      treesOf(async () => {
        await client.query("begin");
        try {
          await client.query(definition);
        } finally {
          await client.query("rollback");
        }
      }),
  };
}

/** Parses the format of `nodeToString`: `{TYPE :field value …}`, lists in parentheses, `<>` for nothing. */
function parseTrees(text: string): readonly TreeNode[] {
  const tokens = text.match(/[(){}]|(?:\\[^]|[^\s(){}\\])+/g) ?? [];
  let at = 0;
  const parseList = (): readonly TreeValue[] => {
    const values: TreeValue[] = [];
    while (tokens[at] !== ")") values.push(parseValue());
    at++;
    return values;
  };
  const parseNode = (): TreeNode => {
    const node: Record<string, TreeValue> & { type: string } = { type: tokens[at++] ?? "" };
    let field = "";
    while (tokens[at] !== "}") {
      if (tokens[at]?.startsWith(":")) field = (tokens[at++] ?? "").slice(1);
      else {
        // The bytes of a constant are several values, of which nothing needs more than the first.
        const value = parseValue();
        node[field] ??= value;
      }
    }
    at++;
    return node;
  };
  const parseValue = (): TreeValue => {
    const token = tokens[at++];
    if (token === undefined) throw new Error("a tree has no end");
    if (token === "(") return parseList();
    if (token === "{") return parseNode();
    return token === "<>" ? null : token;
  };
  const values = parseValue();
  return [values].flat().filter(isNode);
}

export const isNode = (value: TreeValue | undefined): value is TreeNode =>
  typeof value === "object" && value !== null && "type" in value;

/**
 * All nodes of a value.
 * @param enters whether the nodes below a node belong to them, too.
 */
export function nodesOf(
  value: TreeValue | undefined,
  enters: (node: TreeNode) => boolean = () => true,
): readonly TreeNode[] {
  if (isNode(value)) {
    const below = enters(value) ? Object.values(value).flatMap((field) => nodesOf(field, enters)) : [];
    return [value, ...below];
  }
  return typeof value === "object" && value !== null ? value.flatMap((item) => nodesOf(item, enters)) : [];
}
