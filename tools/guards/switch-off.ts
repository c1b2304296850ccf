import { parseAst } from "vitest/node";
import { type Kind, type Marker, MarkerInvalid } from "./marker.ts";

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/**
 * A node, its ancestors with the innermost last, and whether it is an item of a list, such as a statement or an
 * element.
 */
interface Found {
  readonly node: Node;
  readonly parents: readonly Node[];
  readonly isListed: boolean;
}

/** The text without the guard that a marker names. @throws MarkerInvalid */
export function switchOff(text: string, marker: Marker): string {
  const { start, end, by } = marker.language === "sql" ? changesInSql(text, marker) : changesInTypeScript(text, marker);
  return text.slice(0, start) + by + text.slice(end);
}

interface Change {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

function changesInTypeScript(text: string, marker: Marker): Change {
  const nodes = [...walk(parseAst(text, { lang: "ts" }) as Node)].filter(({ node }) => node.type !== "Program");
  const startingAt = (at: number): Found[] => nodes.filter(({ node }) => node.start === at);
  const behindParentheses = marker.at + (/^[(\s]*/.exec(text.slice(marker.at))?.[0].length ?? 0);
  const found = [...startingAt(marker.at), ...startingAt(behindParentheses)];
  const [outermost] = found;
  if (!outermost) throw unsupportedGuard(marker, "no statement, element or operand begins on the next line");
  const listed = found.find(({ isListed }) => isListed) ?? outermost;
  switch (marker.kind) {
    case "drop":
      return dropped(text, listed.node);
    case "throw":
      return { ...spanOf(listed.node), by: 'throw new Error("a guard is switched off");' };
    case "true":
    case "false":
      return { ...spanOf(conditionOf(outermost, marker)), by: marker.kind };
    case "left":
    case "right": {
      const kept = logicalOf(outermost.node, marker)[marker.kind];
      return { ...spanOf(logicalOf(outermost.node, marker)), by: text.slice(kept.start, kept.end) };
    }
    case "no-rows":
      return withoutRows(text, outermost.node, marker);
  }
}

const spanOf = ({ start, end }: Node): { start: number; end: number } => ({ start, end });

function dropped(text: string, node: Node): Change {
  if (node.type.endsWith("Statement")) return { ...spanOf(node), by: ";" };
  const comma = /^\s*,/.exec(text.slice(node.end))?.[0] ?? "";
  return { start: node.start, end: node.end + comma.length, by: "" };
}

/**
 * The condition of a guard: an operand of a chain is a condition itself, and for a statement it is the first condition
 * within.
 */
function conditionOf({ node, parents }: Found, marker: Marker): Node {
  if (parents.at(-1)?.type === "LogicalExpression") return node;
  for (const { node: within } of walk(node)) {
    if ("test" in within && within.test) return within.test as Node;
    if (within.type === "LogicalExpression") return within;
  }
  throw unsupportedGuard(marker, "no condition is there");
}

function logicalOf(node: Node, marker: Marker): Node & { readonly left: Node; readonly right: Node } {
  for (const { node: within } of walk(node)) {
    if (within.type === "LogicalExpression") return within as Node & { left: Node; right: Node };
  }
  throw unsupportedGuard(marker, "no expression with two operands is there");
}

function withoutRows(text: string, node: Node, marker: Marker): Change {
  for (const { node: within } of walk(node)) {
    if (within.type !== "Literal" && within.type !== "TemplateElement") continue;
    const where = /\bwhere\b/.exec(text.slice(within.start, within.end));
    if (where) return { start: within.start + where.index, end: within.start + where.index + 5, by: "where false and" };
  }
  throw unsupportedGuard(marker, "no SQL with a WHERE clause is there");
}

function* walk(node: Node, parents: readonly Node[] = [], isListed = false): Generator<Found> {
  yield { node, parents, isListed };
  for (const value of Object.values(node)) {
    const children: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const child of children) if (isNode(child)) yield* walk(child, [...parents, node], Array.isArray(value));
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && "start" in value && "end" in value;

/**
 * `drop` removes the line. `true` and `false` give its predicate a constant value. The predicate is the text after
 * `where`, `and`, `or`, `on`, `if` or `elsif` up to the end of the line, or further if a parenthesis is open. The
 * predicate stays in the text, so that PostgreSQL still knows the types of its parameters.
 */
function changesInSql(text: string, marker: Marker): Change {
  const line = /^[^\n]*/.exec(text.slice(marker.at))?.[0] ?? "";
  if (marker.kind === "drop") return { start: marker.at, end: marker.at + line.length, by: "" };
  if (marker.kind !== "true" && marker.kind !== "false")
    throw unsupportedGuard(marker, "a guard in SQL is of the kind drop, true or false");
  const keyword = /^(where|and|or|if|elsif|on) /.exec(line)?.[0];
  if (keyword === undefined)
    throw unsupportedGuard(marker, "the line begins with none of where, and, or, on, if, elsif");
  const start = marker.at + keyword.length;
  const predicate = predicateOf(text.slice(start));
  const by = marker.kind === "true" ? `(${predicate} or true)` : `(${predicate} and false)`;
  return { start, end: start + predicate.length, by };
}

/**
 * The predicate ends at the end of the line, a `;`, a ` then`, the end of a template, or a parenthesis that another
 * line has opened.
 */
function predicateOf(text: string): string {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const rest = text.slice(at);
    if (depth === 0 && /^(\s*\n|\s*`|\)|;| then\b)/.test(rest)) return text.slice(0, at);
    if (text[at] === "(") depth++;
    if (text[at] === ")") depth--;
  }
  return text.trimEnd();
}

const unsupportedGuard = ({ kind, line }: { kind: Kind; line: number }, why: string): MarkerInvalid =>
  new MarkerInvalid(`line ${line}: guard(${kind}): ${why}`);
