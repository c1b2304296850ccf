/**
 * Reads what the modules of a program do outside of functions. They may only declare functions and constants, such as
 * frozen tables: then nothing that a function reaches can keep state between events.
 */
import { isFunction, isNode, nameOf, namesIn, type SyntaxNode } from "./syntax.ts";

export interface ModuleLevel {
  /** The names of what modules declare outside of functions. */
  readonly names: ReadonlySet<string>;
  /**
   * Functions that run once, when the program is loaded, such as the function that the bundler writes around the
   * program. What they declare is at module level, too.
   */
  readonly runOnce: ReadonlySet<unknown>;
  /** What is wrong, by node. */
  readonly problems: ReadonlyMap<SyntaxNode, string>;
}

const STATE = "it would keep state between events";
const LET = `\`let\` outside of a function: ${STATE}: declare it inside the function`;
const FLAG = `the flag \`g\` or \`y\` outside of a function: ${STATE}: declare it inside the function`;
const ONLY =
  "outside of functions there are only imports, functions, texts, numbers, regular expressions, and tables of them in `Object.freeze([…])` or `Object.freeze({…})`: move the rest into a function";

export function readModuleLevel(program: SyntaxNode): ModuleLevel {
  const reader = new Reader();
  reader.readStatements(program["body"]);
  return reader;
}

class Reader implements ModuleLevel {
  readonly names = new Set<string>();
  readonly runOnce = new Set<unknown>();
  readonly problems = new Map<SyntaxNode, string>();

  readStatements(statements: unknown): void {
    for (const statement of statements as SyntaxNode[]) this.#readStatement(statement);
  }

  #readStatement(statement: SyntaxNode): void {
    switch (statement.type) {
      case "FunctionDeclaration":
        return this.#declare(statement["id"]);
      case "VariableDeclaration":
        if (statement["kind"] === "let") this.problems.set(statement, LET);
        for (const declarator of statement["declarations"] as SyntaxNode[]) {
          this.#declare(declarator["id"]);
          // guard: a default or a rest of a pattern is a value that nothing freezes
          if ((declarator["id"] as SyntaxNode).type !== "Identifier") this.problems.set(declarator, ONLY);
          this.#readValue(declarator["init"] ?? declarator);
        }
        return;
      case "ReturnStatement":
        return this.#readValue(statement["argument"]);
      default:
        if (statement["directive"] !== undefined || statement.type === "EmptyStatement") return;
        this.problems.set(statement, ONLY);
    }
  }

  #declare(pattern: unknown): void {
    for (const name of namesIn(pattern)) this.names.add(name);
  }

  /** Reads an expression that must be a constant. A hole of an array is no node. */
  #readValue(node: unknown): void {
    if (!isNode(node) || isFunction(node) || node.type === "Identifier") return;
    switch (node.type) {
      case "Literal":
        if (/[gy]/.test((node["regex"] as { readonly flags: string } | undefined)?.flags ?? ""))
          this.problems.set(node, FLAG);
        return;
      case "TemplateLiteral":
      case "UnaryExpression":
      case "BinaryExpression":
      case "LogicalExpression":
      case "ConditionalExpression":
        for (const operand of OPERANDS.flatMap((name) => node[name])) this.#readValue(operand);
        return;
      case "MemberExpression": {
        const object = node["object"] as SyntaxNode;
        if (node["computed"] === true) this.#readValue(node["property"]);
        return object.type === "ObjectExpression" ? this.#readElements(object) : this.#readValue(object);
      }
      case "CallExpression":
        return this.#readCall(node);
      default:
        this.problems.set(node, ONLY);
    }
  }

  #readCall(call: SyntaxNode): void {
    const callee = call["callee"] as SyntaxNode;
    const [given, ...others] = call["arguments"] as SyntaxNode[];
    if (isObjectFreeze(callee) && given && others.length === 0) return this.#readElements(given);
    const isRunOnce = isFunction(callee) && callee["generator"] !== true;
    if (!isRunOnce || given || (callee["params"] as unknown[]).length > 0) {
      this.problems.set(call, ONLY);
      return;
    }
    this.runOnce.add(callee);
    const body = callee["body"] as SyntaxNode;
    if (body.type === "BlockStatement") this.readStatements(body["body"]);
    else this.#readValue(body);
  }

  /** Reads a table that no code can change. */
  #readElements(table: SyntaxNode): void {
    const elements = table.type === "ArrayExpression" ? table["elements"] : table["properties"];
    if (elements === undefined) return this.#readValue(table);
    for (const element of (elements as unknown[]).filter(isNode)) {
      if (element["kind"] === "get" || element["kind"] === "set") this.problems.set(element, ONLY);
      else if (element.type === "SpreadElement") this.#readValue(element["argument"]);
      else if (element.type === "Property") {
        if (element["computed"] === true) this.#readValue(element["key"]);
        this.#readValue(element["value"]);
      } else this.#readValue(element);
    }
  }
}

const OPERANDS = ["argument", "left", "right", "test", "consequent", "alternate", "expressions"];

function isObjectFreeze({ type, object, property, computed }: SyntaxNode): boolean {
  return type === "MemberExpression" && nameOf(object, false) === "Object" && nameOf(property, computed) === "freeze";
}
