import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { Field, Permission, Probe } from "../../packages/contract/src/catalog/declare.ts";

function permissionText(permission: Permission | undefined): string {
  return Object.entries(permission ?? {})
    .map(([platform, name]) => `${platform}: ${name}`)
    .join("; ");
}

function row(name: string, field: Field): string {
  const where = field.platforms.length === 0 ? "never filled" : field.platforms.join(", ");
  const constant = field.constantOn ? ` **Constant on ${field.constantOn.join(", ")}: read it as omitted there.**` : "";
  const cells = [
    `\`${name}\`${field.required ? " (required)" : ""}`,
    field.type,
    field.unit ?? "",
    where,
    field.sensitivity,
    permissionText(field.permission),
    field.meaning + constant,
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function rows(fields: Readonly<Record<string, Field>>, prefix = ""): string[] {
  return Object.entries(fields).flatMap(([name, field]) => [
    row(prefix + name, field),
    ...rows(field.fields ?? {}, `${prefix}${name}.`),
  ]);
}

function section(probe: Probe): string {
  return `## ${probe.id}

${probe.meaning} Platforms: ${probe.platforms.join(", ")}. ${probe.enabledByDefault ? "On by default, after consent." : "Off by default."}

| field | type | unit | platforms | sensitivity | permission | meaning |
| --- | --- | --- | --- | --- | --- | --- |
${rows(probe.fields).join("\n")}
`;
}

export function dataDictionary(): string {
  const count = CATALOG.reduce((sum, probe) => sum + Object.keys(probe.fields).length, 0);
  return `<!-- Generated from the catalog by \`npm run generate\`. Do not edit. -->

# Data dictionary

${CATALOG.length} probes, ${count} fields. Every field is optional unless it says *required*. An omitted field was not observed: that is not
\`false\`. Unknown probes and unknown fields of a later SDK release are kept as they come.

Sensitivity: \`low\` is shared by every device of a model, OS version or app build; \`medium\` sets devices apart when combined, or
describes how a person set the device up; \`high\` is location, telephony, network names and addresses, installed apps,
accessibility use.

${CATALOG.map(section).join("\n")}`;
}
