/**
 * Reports code whose result ECMAScript does not specify exactly, code that keeps state between events, and code that
 * merges states of readings. The lint reads the bundled program, so that it also checks the imports of a definition.
 */
import { hasImportWord } from "../import-word.ts";
import type { Origin, Program } from "./bundle-program.ts";
import { lintExpression } from "./lint-expression.ts";
import { type ModuleLevel, readModuleLevel } from "./module-level.ts";
import {
  childrenOf,
  isFunction,
  isNode,
  nameOf,
  namesIn,
  parse,
  slotsOf,
  type SyntaxNode,
  targetsIn,
} from "./syntax.ts";

export interface Finding {
  readonly origin: Origin | undefined;
  /** What is banned, and the reason or a replacement. */
  readonly message: string;
}

const GLOBALS: ReadonlySet<string> = new Set(
  "undefined NaN Infinity Object Array String Number Boolean BigInt Map Set JSON Math Error TypeError RangeError parseInt parseFloat isNaN isFinite".split(
    " ",
  ),
);
const MATH: ReadonlySet<string> = new Set("abs min max floor ceil round trunc sign sqrt".split(" "));
const TEXT_AS_EXPRESSION =
  "it makes an expression of a text, which the lint can't read: use `exec` or `test` of a literal";
const FRESH = "it changes objects in ways that the lint can't follow: make a new object with `{…}`";
const BOUND = "it gives a function another `this`";
const LOCALE = "its result depends on the version of the engine: compare with < or ===";
const MEMBERS: ReadonlyMap<string, string> = new Map([
  ["normalize", "its result depends on the version of Unicode"],
  ["localeCompare", LOCALE],
  ["toLocaleString", LOCALE],
  ["toLocaleLowerCase", LOCALE],
  ["toLocaleUpperCase", LOCALE],
  ["toLowerCase", "its result depends on the version of Unicode: use lowerAscii"],
  ["toUpperCase", "its result depends on the version of Unicode: use lowerAscii"],
  ["stack", "each engine writes it differently"],
  ["constructor", "it leads to functions that are made from text"],
  ["prototype", "definitions have no classes"],
  ["__proto__", "declare the members that the code needs"],
]);
/** Methods, which are only reported where they are called: an input may have the same name. */
const METHODS: ReadonlyMap<string, string> = new Map([
  ...["match", "matchAll", "search"].map((name) => [name, TEXT_AS_EXPRESSION] as const),
  ...["assign", "create", "defineProperty", "defineProperties", "setPrototypeOf"].map((name) => [name, FRESH] as const),
  ...["call", "apply", "bind"].map((name) => [name, BOUND] as const),
]);
const READING = "a reading is an object, and true in each state: test its `state`";

const BANNED_SYNTAX: Readonly<Record<string, string>> = {
  AwaitExpression: "`await`: a definition gives its value at once",
  WithStatement: "`with`: its names are members of an object",
  TryStatement: "`try`: what an engine throws differs; a definition that throws has failed",
  ImportExpression: "`import()`: import at the top of the file",
  MetaProperty: "`import.meta` and `new.target`: only the readings are inputs",
  ThisExpression: "`this`: only the readings are inputs",
  ClassDeclaration: "`class`: write functions",
  ClassExpression: "`class`: write functions",
};

export function lintProgram({ written, origin }: Pick<Program, "written" | "origin">): readonly Finding[] {
  const tree = parse(written, "js");
  const scope = { declared: namesDeclaredIn(tree), moduleLevel: readModuleLevel(tree) };
  const findings: Finding[] = [];
  const visit = (node: SyntaxNode, place: Place): void => {
    for (const message of messagesFor(node, place, scope)) findings.push({ origin: origin(node.start), message });
    const inside = placeInside(node, place, scope.moduleLevel);
    for (const [slot, child] of slotsOf(node)) visit(child, { ...inside, parent: node, slot });
  };
  visit(tree, { moduleNames: scope.moduleLevel.names, isInFunction: false });
  return findings;
}

/** Lints a program that another program than the bundler may have written. @returns what is banned in it */
export function lintText(text: string): readonly string[] {
  try {
    return [...new Set(lintProgram({ written: text, origin: () => undefined }).map(({ message }) => message))];
  } catch {
    return ["its program is not JavaScript, or nests too deeply"];
  }
}

interface Place {
  readonly parent?: SyntaxNode;
  /** The member of the parent that holds the node. */
  readonly slot?: string;
  /** The names that mean here what modules declare outside of functions. */
  readonly moduleNames: ReadonlySet<string>;
  /** Whether the code may run more than once. */
  readonly isInFunction: boolean;
}

function placeInside(node: SyntaxNode, place: Place, { runOnce }: ModuleLevel): Place {
  const isInFunction = place.isInFunction || (isFunction(node) && !runOnce.has(node));
  const hidden = new Set(isInFunction ? namesOfScope(node) : []);
  const own = ownNameOf(node);
  const moduleNames =
    hidden.size + own.length === 0
      ? place.moduleNames
      : new Set([...place.moduleNames, ...own].filter((name) => !hidden.has(name)));
  return { moduleNames, isInFunction };
}

/** The name of a function expression, which is the function itself for the code in it. */
function ownNameOf({ type, id }: SyntaxNode): string[] {
  return type === "FunctionExpression" ? namesIn(id) : [];
}

/** The names that a function, block or loop declares for the code in it. */
function namesOfScope(node: SyntaxNode): string[] {
  if (isFunction(node)) return (node["params"] as unknown[]).flatMap(namesIn);
  return childrenOf(node).flatMap((child) => {
    if (child.type === "FunctionDeclaration") return namesIn(child["id"]);
    return child.type === "VariableDeclaration"
      ? (child["declarations"] as SyntaxNode[]).flatMap(({ id }) => namesIn(id))
      : [];
  });
}

interface Scope {
  readonly declared: ReadonlySet<string>;
  readonly moduleLevel: ModuleLevel;
}

/** The names that any code of a program declares. */
function namesDeclaredIn(node: SyntaxNode): ReadonlySet<string> {
  const declared = new Set<string>();
  const visit = (one: SyntaxNode): void => {
    for (const name of [...ownNameOf(one), ...namesOfScope(one)]) declared.add(name);
    for (const child of childrenOf(one)) visit(child);
  };
  visit(node);
  return declared;
}

function messagesFor(node: SyntaxNode, place: Place, scope: Scope): readonly string[] {
  const messages = [
    BANNED_SYNTAX[node.type],
    asynchronous(node),
    importWord(node),
    scope.moduleLevel.problems.get(node),
    ...changesOf(node, place),
  ];
  switch (node.type) {
    case "Identifier":
      messages.push(isName(place) ? unknownName(node, place, scope) : undefined);
      break;
    case "BinaryExpression":
    case "AssignmentExpression":
      messages.push(
        String(node["operator"]).startsWith("**") ? "`**`: its result depends on the engine: multiply" : undefined,
      );
      break;
    case "MemberExpression":
    case "Property":
      messages.push(inexactMember(node), bannedMethod(node, place));
      break;
    case "Literal":
      messages.push(...expressionMessages(node["regex"]));
      break;
    default:
  }
  if (node.type === "Property" && nameOf(node["key"], node["computed"]) === "compute")
    messages.push(...mergedReadings(node));
  return messages.filter((message) => message !== undefined);
}

function asynchronous(node: SyntaxNode): string | undefined {
  return isFunction(node) && node["async"] === true ? "`async`: a definition gives its value at once" : undefined;
}

/** Reports the word in a string, a template, a regular expression or a name. `BANNED_SYNTAX` has the keyword. */
function importWord({ type, name, value, regex }: SyntaxNode): string | undefined {
  const { raw } = (type === "TemplateElement" ? value : {}) as { readonly raw?: string };
  const { pattern } = (regex ?? {}) as { readonly pattern?: string };
  const text = raw ?? pattern ?? name ?? value;
  if (typeof text !== "string" || !hasImportWord(text)) return undefined;
  return "the word `import`: no program that contains it is computed";
}

/** Whether an identifier in this place is the name of a variable, and not of a member or a label. */
function isName({ parent, slot }: Place): boolean {
  if (slot === "label") return false;
  return parent?.["computed"] !== false || (slot !== "property" && slot !== "key");
}

function unknownName({ name }: SyntaxNode, { parent, slot }: Place, { declared }: Scope): string | undefined {
  if (name === "RegExp") return "`RegExp`: write the expression as a literal, which the lint can read";
  if (name === "Math" && !(parent?.type === "MemberExpression" && slot === "object"))
    return "`Math`: name its function";
  if (declared.has(name as string) && GLOBALS.has(name as string))
    return `\`${String(name)}\` is a name of the language: choose another name`;
  if (declared.has(name as string) || GLOBALS.has(name as string)) return undefined;
  return `\`${String(name)}\` does not exist for definitions: only the readings are inputs`;
}

function inexactMember(node: SyntaxNode): string | undefined {
  const name = nameOf(node["property"] ?? node["key"], node["computed"]);
  const object = node["object"];
  if (isNode(object) && object["name"] === "Math" && !MATH.has(name ?? "")) {
    return `\`Math.${name ?? "…"}\`: its result depends on the engine: only ${[...MATH].join(", ")} are exact`;
  }
  const advice = name === undefined ? undefined : MEMBERS.get(name);
  return advice && `\`${String(name)}\`: ${advice}`;
}

function bannedMethod({ property, computed }: SyntaxNode, { slot }: Place): string | undefined {
  if (slot !== "callee" && slot !== "tag") return undefined;
  const name = nameOf(property, computed);
  const advice = name === undefined ? undefined : METHODS.get(name);
  return advice && `\`${String(name)}\`: ${advice}`;
}

function expressionMessages(regex: unknown): readonly string[] {
  if (typeof regex !== "object" || regex === null) return [];
  const { pattern, flags } = regex as { readonly pattern: string; readonly flags: string };
  return lintExpression(pattern, flags);
}

/** Reports code in a function that changes a variable of a module, or an object that such a variable holds. */
function changesOf(node: SyntaxNode, { moduleNames, isInFunction }: Place): string[] {
  if (!isInFunction) return [];
  return changedBy(node).flatMap((target) => {
    const name = nameOfRoot(target);
    if (name === undefined || !moduleNames.has(name)) return [];
    return [`a change of \`${name}\`: it would keep state between events: declare it inside the function`];
  });
}

function changedBy(node: SyntaxNode): SyntaxNode[] {
  switch (node.type) {
    case "AssignmentExpression":
    case "ForOfStatement":
    case "ForInStatement":
      return targetsIn(node["left"]);
    case "UpdateExpression":
      return targetsIn(node["argument"]);
    default:
      return [];
  }
}

function nameOfRoot({ type, name, object }: SyntaxNode): string | undefined {
  if (type === "MemberExpression") return nameOfRoot(object as SyntaxNode);
  return type === "Identifier" ? (name as string) : undefined;
}

/** Reports each place where `compute` tests or compares a reading instead of its value. */
function mergedReadings({ value }: SyntaxNode): string[] {
  const [parameter] = isNode(value) && isFunction(value) ? (value["params"] as SyntaxNode[]) : [];
  if (!isNode(value) || !parameter) return [];
  const names = new Set(namesIn(parameter));
  const isReading = (node: unknown): boolean => {
    if (!isNode(node)) return false;
    const owner = parameter.type === "Identifier" && node.type === "MemberExpression" ? node["object"] : undefined;
    if (isNode(owner)) return owner.type === "Identifier" && names.has(owner["name"] as string);
    return parameter.type === "ObjectPattern" && node.type === "Identifier" && names.has(node["name"] as string);
  };
  const merged: string[] = [];
  const visit = (node: SyntaxNode): void => {
    const operator = MERGING.get(node.type);
    if (operator && operator.some((slot) => isReading(node[slot])) && node["operator"] !== "typeof")
      merged.push(READING);
    for (const child of childrenOf(node)) visit(child);
  };
  visit(value);
  return merged;
}

/** Syntax that tests or compares a value, with the members of the node that hold the value. */
const MERGING: ReadonlyMap<string, readonly string[]> = new Map([
  ["LogicalExpression", ["left"]],
  ["UnaryExpression", ["argument"]],
  ["ConditionalExpression", ["test"]],
  ["IfStatement", ["test"]],
  ["BinaryExpression", ["left", "right"]],
]);
