import { isNode, membersOf, parse, type SyntaxNode } from "./syntax.ts";

export type FoundDefinition =
  | {
      readonly ok: true;
      readonly name: string;
      readonly call: SyntaxNode;
      readonly literal: SyntaxNode;
      readonly compute: SyntaxNode;
    }
  | { readonly ok: false; readonly problem: string };

const EXPECTED_FORM = "a definition file must have exactly one `export const NAME = feature({…})`";
const NO_LITERAL = "the argument of `feature` must be an object literal without spreads (`...`) and computed names";

/** Finds the definition in the text of a module. */
export function findDefinition(text: string): FoundDefinition {
  const definitions = (parse(text, "ts")["body"] as SyntaxNode[]).flatMap((statement) => {
    const declared = statement["declaration"];
    if (statement.type !== "ExportNamedDeclaration" || !isNode(declared)) return [];
    if (declared.type !== "VariableDeclaration") return [];
    return (declared["declarations"] as SyntaxNode[]).filter(isDefinition);
  });
  const [declarator, ...others] = definitions;
  if (!declarator || others.length > 0) return { ok: false, problem: EXPECTED_FORM };
  const call = declarator["init"] as SyntaxNode;
  const [literal] = call["arguments"] as SyntaxNode[];
  const members = literal?.type === "ObjectExpression" ? membersOf(literal) : undefined;
  if (!literal || !members) return { ok: false, problem: NO_LITERAL };
  const compute = members.get("compute");
  if (!compute) return { ok: false, problem: "the argument of `feature` has no member `compute`" };
  return { ok: true, name: (declarator["id"] as SyntaxNode)["name"] as string, call, literal, compute };
}

function isDefinition({ id, init }: SyntaxNode): boolean {
  const callee = isNode(init) && init.type === "CallExpression" ? init["callee"] : undefined;
  return isNode(id) && id.type === "Identifier" && isNode(callee) && callee["name"] === "feature";
}

/**
 * Replaces the call of `feature` with the member `compute` of its argument. White space replaces the other code of the
 * call, so that positions up to the end of `compute` do not change.
 */
export function withComputeOnly(text: string, definition: Extract<FoundDefinition, { ok: true }>): string {
  const { call, literal, compute } = definition;
  return [
    text.slice(0, call.start),
    blankOut(text.slice(call.start, literal.start)),
    "{",
    blankOut(text.slice(literal.start + 1, compute.start)),
    text.slice(compute.start, compute.end),
    blankOut(text.slice(compute.end, literal.end - 1)),
    "}.compute",
    text.slice(call.end),
  ].join("");
}

function blankOut(text: string): string {
  return text.replaceAll(/[^\n]/g, " ");
}
