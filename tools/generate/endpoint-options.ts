/**
 * Writes the options of an embedded endpoint as an interface. The meanings of the declared settings are its
 * documentation.
 */
import { EXCLUSIVE } from "../../packages/server/src/base/config/rules.ts";
import { OPTION_PATHS, type Path, PATHS, settingOf } from "../../packages/server/src/base/config/settings.ts";

const MARGIN = "  ";

function documentation(path: Path): string {
  const { kind, meaning, fallback, variable } = settingOf(path);
  const wrong = kind.check(undefined);
  const rule = "problem" in wrong ? ` M${wrong.problem.slice(1)}.` : "";
  return `/** ${inOptions(meaning)}${rule}${defaultOf(fallback, kind.read)} Variable: \`${variable}\`. */`;
}

function defaultOf(fallback: string | undefined, read: (text: string) => object): string {
  if (fallback === undefined) return "";
  const { value } = read(fallback) as { value: unknown };
  return ` Default: ${String(value) === fallback ? "" : `\`${String(value)}\`, which is `}\`${fallback}\`.`;
}

/** Replaces the names of other settings with the paths of their options. */
function inOptions(meaning: string): string {
  return PATHS.reduce((text, path) => text.replaceAll(`\`${settingOf(path).variable}\``, `\`${path}\``), meaning);
}

const namesBelow = (prefix: string, paths: readonly string[]): readonly string[] => [
  ...new Set(
    paths.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length).split(".")[0] ?? ""),
  ),
];

function groupType(prefix: string, depth: number): string {
  const indent = MARGIN.repeat(depth);
  const members = namesBelow(prefix, OPTION_PATHS).map((name) => {
    const path = OPTION_PATHS.find((candidate) => candidate === prefix + name);
    if (path === undefined) return `${indent}readonly ${name}?: ${groupType(`${prefix}${name}.`, depth + 1)};`;
    const { kind, required } = settingOf(path);
    return `${indent}${documentation(path)}\n${indent}readonly ${name}${required ? "" : "?"}: ${kind.type};`;
  });
  const exclusive = EXCLUSIVE.map((paths) => namesBelow(prefix, paths))
    .filter((names) => names.length > 1)
    .map((names) => ` & AtMostOne<${names.map((name) => `"${name}"`).join(" | ")}>`);
  return `{\n${members.join("\n")}\n${MARGIN.repeat(depth - 1)}}${exclusive.join("")}`;
}

export function endpointOptions(): string {
  return `// Generated from the declared settings by \`npm run generate\`. Do not edit.

type AtMostOne<Name extends string> = { [One in Name]: { readonly [Other in Exclude<Name, One>]?: never } }[Name];

/** Settings of an endpoint that a host embeds. */
export interface Settings ${groupType("", 1)}
`;
}
