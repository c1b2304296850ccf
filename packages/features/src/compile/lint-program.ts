/**
 * Reports code whose result ECMAScript does not specify exactly, code that keeps state between events, and code that
 * merges states of readings. The lint reads the bundled program, so that it also checks the imports of a definition.
 */
import { hasImportWord } from "../import-word.ts";
import type { Origin, Program } from "./bundle-program.ts";
import { lintExpression } from "./lint-expression.ts";
import { type ModuleNames, namesIn, resolveModuleNames } from "./module-names.ts";
import { isFunction, isNode, childrenOf, nameOf, parse, slotsOf, type SyntaxNode } from "./syntax.ts";

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
  ["__proto__", "declare the members that the code needs"],
]);
/** Methods, which are only reported where they are called: an input may have the same name. */
const METHODS: ReadonlyMap<string, string> = new Map([
  ...["match", "matchAll", "search"].map((name) => [name, TEXT_AS_EXPRESSION] as const),
  ...["assign", "create", "defineProperty", "defineProperties", "setPrototypeOf"].map((name) => [name, FRESH] as const),
  ...["call", "apply", "bind"].map((name) => [name, BOUND] as const),
]);
const MUTATORS: ReadonlySet<string> = new Set(
  "push pop shift unshift splice sort reverse fill copyWithin set add delete clear".split(" "),
);
/** Methods that return an element. */
const GETTERS: ReadonlySet<string> = new Set(["get", "at", "find", "findLast"]);
const STATE = "it would keep state between events: declare it inside the function";
const READ_ONLY = "outside of functions it may only be read: pass a copy, or declare it with `Object.freeze`";
const READING = "a reading is an object, and true in each state: test its `state`";

const BANNED_SYNTAX: Readonly<Record<string, string>> = {
  AwaitExpression: "`await`: a definition gives its value at once",
  WithStatement: "`with`: its names are members of an object",
  TryStatement: "`try`: what an engine throws differs; a definition that throws has failed",
  ImportExpression: "`import()`: import at the top of the file",
  MetaProperty: "`import.meta` and `new.target`: only the readings are inputs",
  ThisExpression: "`this`: only the readings are inputs",
};

export function lintProgram({ written, origin }: Pick<Program, "written" | "origin">): readonly Finding[] {
  const tree = parse(written, "js");
  const scope = scopeOf(tree);
  const findings: Finding[] = [];
  const visit = (node: SyntaxNode, place: Place): void => {
    for (const message of messagesFor(node, place, scope)) findings.push({ origin: origin(node.start), message });
    for (const [slot, child] of slotsOf(node))
      visit(child, { parent: node, slot, depth: depthBelow(node, place.depth) });
  };
  visit(tree, { depth: 0 });
  return findings;
}

/** Lints a program that another program than the bundler may have written. @returns what is banned in it */
export function lintText(text: string): readonly string[] {
  // The lint expects a function around the program, as the bundler writes it. Another program may have none.
  const forms = [text, `(() => {${text}\n})()`];
  try {
    const findings = forms.flatMap((written) => lintProgram({ written, origin: () => undefined }));
    return [...new Set(findings.map(({ message }) => message))];
  } catch {
    return ["its program is not JavaScript, or nests too deeply"];
  }
}

interface Place {
  readonly parent?: SyntaxNode;
  /** The member of the parent that holds the node. */
  readonly slot?: string;
  /** The number of functions around the node, including the function around the whole program. */
  readonly depth: number;
}

const MODULE_DEPTH = 1;

interface Scope {
  readonly declared: ReadonlySet<string>;
  readonly moduleNames: ModuleNames;
}

function depthBelow(node: SyntaxNode, depth: number): number {
  return isFunction(node) ? depth + 1 : depth;
}

function scopeOf(tree: SyntaxNode): Scope {
  const declared = new Set<string>();
  const declare = (pattern: unknown): void => {
    for (const name of namesIn(pattern)) declared.add(name);
  };
  const visit = (node: SyntaxNode): void => {
    if (isFunction(node)) for (const parameter of node["params"] as unknown[]) declare(parameter);
    if (isFunction(node) || node.type === "VariableDeclarator" || node.type.startsWith("Class")) declare(node["id"]);
    for (const child of childrenOf(node)) visit(child);
  };
  visit(tree);
  return { declared, moduleNames: resolveModuleNames(tree, MODULE_DEPTH) };
}

function messagesFor(node: SyntaxNode, place: Place, scope: Scope): readonly string[] {
  const messages = [
    BANNED_SYNTAX[node.type],
    asynchronous(node),
    importWord(node),
    changeOf(node, place, scope),
    aliasOf(node, place, scope),
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
    case "VariableDeclaration":
      messages.push(isModuleVariable(node, place) ? `\`let\` outside of a function: ${STATE}` : undefined);
      break;
    case "MemberExpression":
    case "Property":
      messages.push(inexactMember(node), bannedMethod(node, place));
      break;
    case "Literal":
      messages.push(...expressionMessages(node["regex"], place));
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

function isModuleVariable(node: SyntaxNode, { depth, parent }: Place): boolean {
  return depth === MODULE_DEPTH && node["kind"] === "let" && parent?.type === "BlockStatement";
}

function expressionMessages(regex: unknown, { depth }: Place): (string | undefined)[] {
  if (typeof regex !== "object" || regex === null) return [];
  const { pattern, flags } = regex as { readonly pattern: string; readonly flags: string };
  return [
    ...lintExpression(pattern, flags),
    /[gy]/.test(flags) && depth === MODULE_DEPTH
      ? `the flag \`g\` or \`y\` outside of a function: ${STATE}`
      : undefined,
  ];
}

/** Reports code in a function that changes a variable of a module, or an object that such a variable holds. */
function changeOf(node: SyntaxNode, { depth }: Place, { moduleNames }: Scope): string | undefined {
  if (depth <= MODULE_DEPTH) return undefined;
  const root = rootOf(changedBy(node));
  return root && moduleNames.isOfModule(root) ? `a change of \`${String(root["name"])}\`: ${STATE}` : undefined;
}

/**
 * Reports code in a function that passes a table of a module to other code, which may change the table under another
 * name. A table of a module is a map, set, array or object that is declared outside of functions.
 */
function aliasOf(node: SyntaxNode, { depth }: Place, { moduleNames }: Scope): string | undefined {
  if (depth <= MODULE_DEPTH || !moduleNames.isPassedOn(node)) return undefined;
  return `\`${String(node["name"])}\` could be changed, and ${STATE}; ${READ_ONLY}`;
}

function changedBy(node: SyntaxNode): unknown {
  if (node.type === "AssignmentExpression") return node["left"];
  if (node.type === "UpdateExpression") return node["argument"];
  const callee = node.type === "CallExpression" ? (node["callee"] as SyntaxNode) : undefined;
  const method = callee?.type === "MemberExpression" ? nameOf(callee["property"], callee["computed"]) : undefined;
  return method !== undefined && MUTATORS.has(method) ? callee?.["object"] : undefined;
}

function rootOf(target: unknown): SyntaxNode | undefined {
  if (!isNode(target)) return undefined;
  if (target.type === "MemberExpression") return rootOf(target["object"]);
  // `table.get(key).push(value)` changes a value of the table.
  if (target.type === "CallExpression") {
    const callee = target["callee"] as SyntaxNode;
    return GETTERS.has(nameOf(callee["property"], callee["computed"]) ?? "") ? rootOf(callee["object"]) : undefined;
  }
  return target.type === "Identifier" ? target : undefined;
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
