/** Nodes of the parser's syntax tree. The members of a node depend on its type. */
import { parseAst } from "rolldown/parseAst";

export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

/** @throws Error if the text is not a module */
export function parse(text: string, lang: "js" | "ts"): SyntaxNode {
  return parseAst(text, { lang }) as unknown as SyntaxNode;
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

/** The nodes directly below a node, in the order of the text. */
export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  return Object.values(node).flat().filter(isNode);
}

/** The nodes directly below a node, each with the name of the member that holds it. */
export function slotsOf(node: SyntaxNode): [slot: string, child: SyntaxNode][] {
  return Object.entries(node).flatMap(([slot, value]) =>
    [value].flat().flatMap((child): [string, SyntaxNode][] => (isNode(child) ? [[slot, child]] : [])),
  );
}

export function isFunction({ type }: SyntaxNode): boolean {
  return type === "FunctionDeclaration" || type === "FunctionExpression" || type === "ArrowFunctionExpression";
}

/** The name of a member or property; `undefined` if it is neither an identifier nor a string. */
export function nameOf(key: unknown, computed: unknown): string | undefined {
  if (!isNode(key)) return undefined;
  if (key.type === "Literal" && typeof key["value"] === "string") return key["value"];
  const [text, ...others] = key.type === "TemplateLiteral" ? (key["quasis"] as SyntaxNode[]) : [];
  if (text && others.length === 0) return (text["value"] as { readonly cooked: string }).cooked;
  return computed !== true && key.type === "Identifier" ? (key["name"] as string) : undefined;
}

/**
 * The members of an object literal by name; `undefined` if the literal has a spread, or a member whose name is neither
 * an identifier nor a string.
 */
export function membersOf(object: SyntaxNode): ReadonlyMap<string, SyntaxNode> | undefined {
  const members = new Map<string, SyntaxNode>();
  for (const property of object["properties"] as SyntaxNode[]) {
    const name = property.type === "Property" ? nameOf(property["key"], property["computed"]) : undefined;
    if (name === undefined) return undefined;
    members.set(name, property);
  }
  return members;
}

/** The names that a pattern binds. */
export function namesIn(pattern: unknown): string[] {
  return targetsIn(pattern).map(({ name }) => name as string);
}

/** The variables and members that an assignment to a pattern changes. A hole of an array is no node. */
export function targetsIn(pattern: unknown): SyntaxNode[] {
  if (!isNode(pattern)) return [];
  switch (pattern.type) {
    case "Identifier":
    case "MemberExpression":
      return [pattern];
    case "ObjectPattern":
      return (pattern["properties"] as SyntaxNode[]).flatMap(({ value, argument }) => targetsIn(value ?? argument));
    case "ArrayPattern":
      return (pattern["elements"] as unknown[]).flatMap(targetsIn);
    case "AssignmentPattern":
      return targetsIn(pattern["left"]);
    default:
      return targetsIn(pattern["argument"]);
  }
}
