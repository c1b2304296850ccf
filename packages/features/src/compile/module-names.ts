/**
 * Finds the variables that modules declare outside of functions, and where functions pass such a variable to other
 * code. That code may change the value under another name, such as a parameter.
 */
import { childrenOf, isFunction, isNode, membersOf, nameOf, slotsOf, type SyntaxNode } from "./syntax.ts";

export interface ModuleNames {
  /** Whether an identifier refers to a variable that a module declares outside of functions. */
  isOfModule(identifier: SyntaxNode): boolean;
  /**
   * Whether an identifier refers to a table of a module (a map, set, array or object), in code that does more than read
   * the table.
   */
  isPassedOn(identifier: SyntaxNode): boolean;
}

interface Binding {
  readonly depth: number;
  /** The node of the value; `undefined` for parameters, patterns and declarations without a value. */
  readonly value: SyntaxNode | undefined;
}

interface Scope {
  readonly names: Map<string, Binding>;
  readonly parent: Scope | undefined;
}

interface Use {
  readonly node: SyntaxNode;
  readonly parents: Parents;
}

/** The nodes around a node, outermost first. `slot` is the member that holds the next inner node. */
type Parents = readonly { readonly node: SyntaxNode; readonly slot: string }[];

/** @param moduleDepth the number of functions around the declarations of modules */
export function resolveModuleNames(tree: SyntaxNode, moduleDepth: number): ModuleNames {
  const bindings = new Map<SyntaxNode, Binding>();
  const uses: Use[] = [];
  const visit = (node: SyntaxNode, parents: Parents, outer: Scope, depth: number): void => {
    const below = isFunction(node) ? depth + 1 : depth;
    const scope = opensScope(node) ? scopeOf(node, outer, below) : outer;
    const binding = node.type === "Identifier" ? lookUp(scope, node["name"] as string) : undefined;
    if (binding && !isMember(parents.at(-1))) {
      bindings.set(node, binding);
      if (binding.depth <= moduleDepth && depth > moduleDepth) uses.push({ node, parents });
    }
    for (const [slot, child] of slotsOf(node)) visit(child, [...parents, { node, slot }], scope, below);
  };
  visit(tree, [], { names: new Map(), parent: undefined }, 0);
  const values = new Values(bindings);
  const passedOn = new Set(uses.filter((use) => isPassedOn(use, values)).map(({ node }) => node));
  return {
    isOfModule: (identifier) => (bindings.get(identifier)?.depth ?? Infinity) <= moduleDepth,
    isPassedOn: (identifier) => passedOn.has(identifier),
  };
}

const isMember = (place: Parents[number] | undefined): boolean =>
  place?.node["computed"] === false && (place.slot === "property" || place.slot === "key");

function lookUp(scope: Scope | undefined, name: string): Binding | undefined {
  return scope && (scope.names.get(name) ?? lookUp(scope.parent, name));
}

const SCOPES: ReadonlySet<string> = new Set([
  "Program",
  "BlockStatement",
  "ForStatement",
  "ForOfStatement",
  "ForInStatement",
]);
const opensScope = (node: SyntaxNode): boolean => isFunction(node) || SCOPES.has(node.type);

function scopeOf(node: SyntaxNode, parent: Scope, depth: number): Scope {
  const names = new Map<string, Binding>();
  const declare = (pattern: unknown, value?: unknown): void => {
    const isPlain = isNode(pattern) && pattern.type === "Identifier";
    for (const name of namesIn(pattern))
      names.set(name, { depth, value: isPlain && isNode(value) ? value : undefined });
  };
  if (isFunction(node)) {
    if (node.type === "FunctionExpression") declare(node["id"]);
    for (const parameter of node["params"] as unknown[]) declare(parameter);
  }
  for (const child of isFunction(node) ? [] : childrenOf(node)) {
    if (child.type === "FunctionDeclaration" || child.type === "ClassDeclaration") declare(child["id"], child);
    if (child.type !== "VariableDeclaration") continue;
    for (const { id, init } of child["declarations"] as SyntaxNode[]) declare(id, init);
  }
  return { names, parent };
}

/** The names that a pattern binds. */
export function namesIn(pattern: unknown): string[] {
  if (!isNode(pattern)) return [];
  switch (pattern.type) {
    case "Identifier":
      return [pattern["name"] as string];
    case "ObjectPattern":
      return (pattern["properties"] as SyntaxNode[]).flatMap(({ value, argument }) => namesIn(value ?? argument));
    case "ArrayPattern":
      return (pattern["elements"] as unknown[]).flatMap(namesIn);
    case "AssignmentPattern":
      return namesIn(pattern["left"]);
    default:
      return namesIn(pattern["argument"]);
  }
}

/** Functions of the language that read their arguments and keep no reference to them. */
const READERS: ReadonlySet<string> = new Set(
  "Object.keys Object.values Object.entries Object.fromEntries Object.hasOwn Array.from Array.isArray JSON.stringify Map Set String".split(
    " ",
  ),
);
/** Methods that read their arguments and keep no reference to them. */
const READING_METHODS: ReadonlySet<string> = new Set(
  "concat isSubsetOf isSupersetOf isDisjointFrom union intersection difference symmetricDifference".split(" "),
);
/** Methods and functions whose results are never objects. */
const PRIMITIVE_METHODS: ReadonlySet<string> = new Set(
  "join replace replaceAll trim repeat padStart padEnd toString charCodeAt codePointAt indexOf includes has startsWith endsWith test".split(
    " ",
  ),
);
const PRIMITIVE_FUNCTIONS: ReadonlySet<string> = new Set(
  "String Number Boolean BigInt parseInt parseFloat isNaN isFinite".split(" "),
);
const NEVER_CHANGED: ReadonlySet<string> = new Set(
  "Literal TemplateLiteral UnaryExpression BinaryExpression ClassDeclaration ClassExpression FunctionDeclaration FunctionExpression ArrowFunctionExpression".split(
    " ",
  ),
);
/** Syntax that only reads the value in the listed members. */
const READING: ReadonlyMap<string, readonly string[]> = new Map([
  ["ForOfStatement", ["right"]],
  ["ForInStatement", ["right"]],
  ["SpreadElement", ["argument"]],
  ["BinaryExpression", ["left", "right"]],
  ["UnaryExpression", ["argument"]],
  ["TemplateLiteral", ["expressions"]],
  ["ConditionalExpression", ["test"]],
  ["IfStatement", ["test"]],
  ["ExpressionStatement", ["expression"]],
]);

function isPassedOn({ node, parents }: Use, values: Values): boolean {
  let value = values.of(node);
  let parentIndex = parents.length - 1;
  // In `name.member`, the table may be the member.
  for (
    ;
    parents[parentIndex]?.slot === "object" && parents[parentIndex]?.node.type === "MemberExpression";
    parentIndex--
  ) {
    const { property, computed } = (parents[parentIndex] as Parents[number]).node;
    const name = nameOf(property, computed);
    value =
      value?.type === "ObjectExpression" && name ? (membersOf(value)?.get(name)?.["value"] as SyntaxNode) : undefined;
    if (value === undefined) return false;
  }
  const place = parents[parentIndex];
  if (!value || !place || values.isConstant(value)) return false;
  const { node: parent, slot } = place;
  if (READING.get(parent.type)?.includes(slot)) return false;
  if (parent.type === "VariableDeclarator" && (parent["id"] as SyntaxNode).type !== "Identifier")
    return !values.isFlat(value);
  if (parent.type === "CallExpression" || parent.type === "NewExpression") {
    // The called value is not constant. It may be a function that another function made, and may keep state.
    if (slot === "callee") return true;
    return !isReader(parent["callee"] as SyntaxNode, values);
  }
  return true;
}

function isReader(callee: SyntaxNode, values: Values): boolean {
  const global = values.globalOf(callee);
  if (global !== undefined) return READERS.has(global);
  return (
    callee.type === "MemberExpression" && READING_METHODS.has(nameOf(callee["property"], callee["computed"]) ?? "")
  );
}

/** What the text of a program says about the values of its expressions. */
class Values {
  readonly #bindings: ReadonlyMap<SyntaxNode, Binding>;

  constructor(bindings: ReadonlyMap<SyntaxNode, Binding>) {
    this.#bindings = bindings;
  }

  of(identifier: SyntaxNode): SyntaxNode | undefined {
    return this.#bindings.get(identifier)?.value;
  }

  /** The name of a global, such as `Math.max` or `String`; `undefined` if the program declares it. */
  globalOf(node: SyntaxNode): string | undefined {
    if (node.type === "Identifier") return this.#bindings.has(node) ? undefined : (node["name"] as string);
    if (node.type !== "MemberExpression") return undefined;
    const object = this.globalOf(node["object"] as SyntaxNode);
    return object === undefined ? undefined : `${object}.${nameOf(node["property"], node["computed"]) ?? ""}`;
  }

  /** Whether no code can change the value. @param within the values that are being examined, to end a recursion */
  isConstant(node: unknown, within: readonly SyntaxNode[] = []): boolean {
    if (!isNode(node)) return true;
    if (NEVER_CHANGED.has(node.type)) return true;
    switch (node.type) {
      case "Identifier":
        return this.globalOf(node) !== undefined || this.#isConstantValue(this.of(node), within);
      case "MemberExpression":
        return this.globalOf(node) !== undefined || this.isFlat(this.of(node["object"] as SyntaxNode));
      case "ConditionalExpression":
        return this.isConstant(node["consequent"], within) && this.isConstant(node["alternate"], within);
      case "LogicalExpression":
        return this.isConstant(node["left"], within) && this.isConstant(node["right"], within);
      case "CallExpression":
        return this.#givesConstant(node, within);
      default:
        return false;
    }
  }

  #isConstantValue(value: SyntaxNode | undefined, within: readonly SyntaxNode[]): boolean {
    return value !== undefined && !within.includes(value) && this.isConstant(value, [...within, value]);
  }

  #givesConstant({ callee, arguments: given }: SyntaxNode, within: readonly SyntaxNode[]): boolean {
    const called = callee as SyntaxNode;
    const global = this.globalOf(called);
    if (global === "Object.freeze") return this.isFlat((given as SyntaxNode[])[0]);
    if (global !== undefined) return PRIMITIVE_FUNCTIONS.has(global) || global.startsWith("Math.");
    if (called.type === "MemberExpression")
      return PRIMITIVE_METHODS.has(nameOf(called["property"], called["computed"]) ?? "");
    const calledFunction = called.type === "Identifier" ? this.of(called) : undefined;
    if (!calledFunction || !isFunction(calledFunction) || within.includes(calledFunction)) return false;
    return resultsOf(calledFunction).every(
      (result) =>
        this.isConstant(result, [...within, calledFunction]) &&
        (!this.#isFunctionOf(result) || this.#keepsNothing(calledFunction, given)),
    );
  }

  #isFunctionOf(node: unknown): boolean {
    if (!isNode(node)) return false;
    const value = node.type === "Identifier" ? this.of(node) : node;
    return value !== undefined && isFunction(value);
  }

  /**
   * Whether the arguments, the default values and the variables of a called function are constants. Then a function
   * that it returns keeps no state in them.
   */
  #keepsNothing(calledFunction: SyntaxNode, given: unknown): boolean {
    const defaults = (calledFunction["params"] as SyntaxNode[]).map(({ right }) => right);
    const areConstant = withinFunction(calledFunction, "VariableDeclaration").flatMap(({ kind, declarations }) =>
      (declarations as SyntaxNode[]).map(({ init }) => kind === "const" && this.isConstant(init)),
    );
    return (
      areConstant.every(Boolean) && [...(given as unknown[]), ...defaults].every((value) => this.isConstant(value))
    );
  }

  /** Whether a table is a literal, or a new `Map` or `Set`, whose elements are constants. */
  isFlat(node: unknown): boolean {
    if (!isNode(node)) return false;
    switch (node.type) {
      case "ArrayExpression":
        return (node["elements"] as unknown[]).every((element) => this.isConstant(element));
      case "ObjectExpression":
        return (node["properties"] as SyntaxNode[]).every(({ value }) => value !== undefined && this.isConstant(value));
      case "NewExpression":
        return (node["arguments"] as unknown[]).every((list) => this.#isListOfFlat(list));
      default:
        return false;
    }
  }

  /** Whether each element is a constant or, as an entry of a map, an array of constants. */
  #isListOfFlat(node: unknown): boolean {
    if (!isNode(node) || node.type !== "ArrayExpression") return false;
    return (node["elements"] as unknown[]).every((element) => this.isConstant(element) || this.isFlat(element));
  }
}

/** The expressions that a function returns. The item of a `return` without an expression is no node. */
function resultsOf(functionNode: SyntaxNode): unknown[] {
  const body = functionNode["body"] as SyntaxNode;
  if (body.type !== "BlockStatement") return [body];
  return withinFunction(body, "ReturnStatement").map(({ argument }) => argument);
}

/** The nodes of a type in a function, without those in functions inside it. */
function withinFunction(node: SyntaxNode, type: string): SyntaxNode[] {
  return childrenOf(node).flatMap((child) => {
    if (isFunction(child)) return [];
    return [...(child.type === type ? [child] : []), ...withinFunction(child, type)];
  });
}
