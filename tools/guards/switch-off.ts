/**
 * A marker is the comment above a guarded line: `// guard: WHY`, or `// guard(WAY): WHY` where the way to switch the
 * guard off does not follow from the line. In SQL it begins with `--`, also in a template of TypeScript.
 */
import { parseAst } from "vitest/node";

export interface Guard {
  readonly sign: string;
  readonly way: string | undefined;
  readonly rule: string;
  /** The line of the marker, counted from 1. */
  readonly line: number;
  /** The position of the guarded text: the next line that is no comment, after its indentation. */
  readonly at: number;
}

const MARKER = /^ *(\/\/|--) guard(?:\(([a-z-]+)\))?: (\S.*)\n(?=((?: *(?:\/\/|--|\/?\*).*\n|\n)* *))/gm;

export function guardsOf(text: string): readonly Guard[] {
  return [...text.matchAll(MARKER)].map(({ 0: all, 1: sign = "", 2: way, 3: rule = "", 4: before = "", index }) => {
    return { sign, way, rule, line: text.slice(0, index).split("\n").length, at: index + all.length + before.length };
  });
}

/** The text without a guard, or `undefined` if the line does not say how to switch it off. */
export function switchOff(text: string, guard: Guard): string | undefined {
  const change = guard.sign === "--" ? changeSql(text, guard) : changeTypeScript(text, guard);
  return change && text.slice(0, change.start) + change.by + text.slice(change.end);
}

interface Change {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly test?: Node;
  readonly operator?: string;
  readonly left?: Node;
  readonly right?: Node;
}

/** A node with its parent, and whether it is an item of a list, such as a statement or an element. */
interface Found {
  readonly node: Node;
  readonly parent: Node | undefined;
  readonly isItem: boolean;
}

function changeTypeScript(text: string, { at, way }: Guard): Change | undefined {
  const behindParentheses = at + (/^[(\s]*/.exec(text.slice(at))?.[0].length ?? 0);
  const nodes = [...walk(parseAst(text, { lang: "ts" }) as Node)].filter(({ node }) => node.type !== "Program");
  const found = [at, behindParentheses].flatMap((start) => nodes.filter(({ node }) => node.start === start));
  const [outermost] = found;
  if (!outermost) return undefined;
  const item = (found.find(({ isItem }) => isItem) ?? outermost).node;
  const within = [...walk(outermost.node)].map(({ node }) => node);
  const logical = within.find(({ type }) => type === "LogicalExpression");
  const isOperand = outermost.parent?.type === "LogicalExpression";
  const replace = (node: Node | undefined, by: string): Change | undefined => node && { ...spanOf(node), by };
  const chosen = way ?? wayFor(outermost, text);
  switch (chosen) {
    case "drop":
      if (item.type.endsWith("Statement")) return replace(item, ";");
      return { start: item.start, end: item.end + (/^\s*,/.exec(text.slice(item.end))?.[0].length ?? 0), by: "" };
    case "throw":
      return replace(item, 'throw new Error("a guard is switched off");');
    case "true":
    case "false": {
      const condition = within.find(({ test, type }) => test ?? type === "LogicalExpression");
      return replace(isOperand ? outermost.node : (condition?.test ?? condition), chosen);
    }
    case "left":
    case "right": {
      const kept = logical?.[chosen];
      return kept && replace(logical, text.slice(kept.start, kept.end));
    }
    case "no-rows": {
      const where = at + text.slice(at).search(/\bwhere\b/);
      return { start: where, end: where + 5, by: "where false and" };
    }
    default:
      return undefined;
  }
}

/** Without a way, a condition that rejects becomes false, an operand has no effect, and a statement or item is removed. */
function wayFor({ node, parent, isItem }: Found, text: string): string | undefined {
  if (parent?.type === "LogicalExpression") return parent.operator === "&&" ? "true" : "false";
  if (node.type === "IfStatement") return /\b(throw|return|continue)\b/.test(spanText(node, text)) ? "false" : "drop";
  const isKept = /Declaration|Definition|ReturnStatement|^(Import|Export)/.test(node.type);
  return isItem && !isKept ? "drop" : undefined;
}

const spanOf = ({ start, end }: Node): { start: number; end: number } => ({ start, end });
const spanText = ({ start, end }: Node, text: string): string => text.slice(start, end);

function* walk(node: Node, parent?: Node, isItem = false): Generator<Found> {
  yield { node, parent, isItem };
  for (const value of Object.values(node)) {
    const children: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const child of children) if (isNode(child)) yield* walk(child, node, Array.isArray(value));
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && "start" in value && "end" in value;

/**
 * The predicate after the keyword stays in the text, so that PostgreSQL still knows the types of its parameters. It
 * ends with the line, a `;`, a ` then`, the template, or a parenthesis that another line has opened.
 */
function changeSql(text: string, { at, way }: Guard): Change | undefined {
  const line = text.slice(at).split("\n", 1)[0] ?? "";
  const keyword = /^(where|and|or|if|elsif|on) /.exec(line)?.[0] ?? "";
  const isStatement = /^perform .*;$/.test(line);
  const derived = keyword ? (/^(where|and|on)/.test(keyword) ? "true" : "false") : isStatement ? "drop" : undefined;
  const chosen = way ?? derived;
  if (chosen === "drop") return { start: at, end: at + line.length, by: "" };
  if (keyword === "" || (chosen !== "true" && chosen !== "false")) return undefined;
  const start = at + keyword.length;
  let [end, depth] = [start, 0];
  for (; end < text.length && (depth > 0 || !/^(\s*\n|\s*`|\)|;| then\b)/.test(text.slice(end, end + 99))); end++) {
    depth += text[end] === "(" ? 1 : text[end] === ")" ? -1 : 0;
  }
  return { start, end, by: `(${text.slice(start, end).trimEnd()} ${chosen === "true" ? "or true" : "and false"})` };
}
