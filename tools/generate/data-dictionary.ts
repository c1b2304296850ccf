import { CATALOG } from "@device-risk-signals/contract/catalog";
import type {
  ByPlatform,
  Field,
  Permission,
  Probe,
  Range,
  Systems,
} from "../../packages/contract/src/catalog/declare.ts";
import { code, table } from "./table.ts";

function permissionText(permission: Permission | undefined): string {
  return Object.entries(permission ?? {})
    .map(([platform, names]) => `${platform}: ${names.replaceAll(/\w+_\w+/g, "`$&`")}`)
    .join("; ");
}

/** Prints the content once if it is the same for both platforms. */
function onEach<Content>(content: ByPlatform<Content> | undefined, print: (content: Content) => string): string[] {
  const texts = Object.entries(content ?? {}).map(([platform, own]) => [platform, print(own)] as const);
  const isShared = new Set(texts.map(([, text]) => text)).size === 1;
  return isShared ? [texts[0]?.[1] ?? ""] : texts.map(([platform, text]) => `${platform}: ${text}`);
}

function rangeText({ min, max, integer }: Range): string {
  const bounds =
    min === undefined
      ? `at most ${max}`
      : max === undefined
        ? `${min} or more`
        : min === max
          ? `${min}`
          : `${min} to ${max}`;
  return integer ? `integer, ${bounds}` : bounds;
}

const SYSTEMS = { android: "API", ios: "iOS" } as const;

function systemsText(systems: ByPlatform<Systems> | undefined): string[] {
  return Object.entries(systems ?? {}).flatMap(([platform, { since, until }]) => {
    const name = SYSTEMS[platform as keyof typeof SYSTEMS];
    return [...(since ? [`from ${name} ${since}`] : []), ...(until ? [`up to ${name} ${until}`] : [])];
  });
}

function valuesText({ values, form, raw, range, systems }: Field): string {
  const parts = [
    ...onEach(values, (list) => list.map(code).join(", ")),
    ...(form ? [form.name] : []),
    ...(raw ? ["as the platform says it"] : []),
    ...onEach(range, rangeText),
    ...systemsText(systems),
  ];
  return parts.join("; ");
}

function row(name: string, field: Field): string[] {
  const where = field.platforms.length === 0 ? "never filled" : field.platforms.join(", ");
  const constant = field.constantOn ? ` **Constant on ${field.constantOn.join(", ")}: read it as omitted there.**` : "";
  const cells = [
    `${code(name)}${field.required ? " (required)" : ""}${field.addition ? " (addition)" : ""}`,
    field.type + (field.unit ? `, ${field.unit}` : ""),
    where,
    field.sensitivity,
    permissionText(field.permission),
    valuesText(field),
    field.meaning + constant,
  ];
  return cells.map((cell) => cell.replaceAll("|", "\\|"));
}

function rows(fields: Readonly<Record<string, Field>>, prefix = ""): string[][] {
  return Object.entries(fields).flatMap(([name, field]) => [
    row(prefix + name, field),
    ...rows(field.fields ?? {}, `${prefix}${name}.`),
  ]);
}

const COLUMNS = ["field", "type, unit", "platforms", "sensitivity", "permission", "values", "meaning"];

function section(probe: Probe): string {
  return `## ${probe.id}

${probe.meaning} Platforms: ${probe.platforms.join(", ")}. ${probe.enabledByDefault ? "On by default, after consent." : "Off by default."}

${table(COLUMNS, rows(probe.fields))}
`;
}

export function dataDictionary(): string {
  const fields = CATALOG.flatMap((probe) => Object.values(probe.fields));
  const additions = fields.filter(({ addition }) => addition).length;
  return `<!-- Generated from the catalog by \`npm run generate\`. Do not edit. -->

# Data dictionary

${CATALOG.length} probes, ${fields.length} fields: ${fields.length - additions} of the contract, and ${additions} that say *addition*. Every field is optional unless it says
*required*. An omitted field was not observed: that is not \`false\`. Unknown probes and unknown fields of a later SDK release are
stored unchanged.

Sensitivity: \`low\` says little about one device, because many devices have the same value; \`medium\` distinguishes devices if
several values are combined, or describes how a person set the device up; \`high\` is location, telephony, network names and
addresses, installed apps, accessibility use.

The column *values* says what the SDK of this release can put into a field: a closed vocabulary, a form, a range, or the platform's own
words. It also says which systems (API level of Android, major version of iOS) provide the field. The endpoint rejects no event because
of a value that the column does not list.

${CATALOG.map(section).join("\n")}`;
}
