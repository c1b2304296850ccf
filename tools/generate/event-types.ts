import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { Field } from "../../packages/contract/src/catalog/declare.ts";

const TYPES: Readonly<Record<Exclude<Field["type"], "object">, string>> = {
  string: "string",
  boolean: "boolean",
  number: "number",
  "string[]": "readonly string[]",
  "number[]": "readonly number[]",
};

function typeName(id: string): string {
  return id.replaceAll(/(^|_)(.)/g, (_, __, letter: string) => letter.toUpperCase());
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function describe(field: Field): string {
  const facts = [
    field.unit && `Unit: ${field.unit}.`,
    field.platforms.length === 0 && "Never filled by the SDK.",
    field.platforms.length === 1 && `Only on ${field.platforms[0]}.`,
    field.constantOn && `A constant on ${field.constantOn.join(", ")}: read it as omitted there.`,
  ].filter(Boolean);
  return [field.meaning, ...facts].join(" ");
}

function dataInterface(name: string, fields: Readonly<Record<string, Field>>): string {
  const nested: string[] = [];
  const lines = Object.entries(fields).map(([key, field]) => {
    let type: string;
    if (field.type === "object") {
      type = `${name.replace(/Data$/, "")}${capitalized(key)}`;
      nested.push(dataInterface(type, field.fields ?? {}));
    } else type = TYPES[field.type];
    return `  /** ${describe(field)} */\n  readonly ${key}${field.required ? "" : "?"}: ${type};`;
  });
  return [...nested, `export interface ${name} {\n${lines.join("\n")}\n}`].join("\n\n");
}

/** Writes the types of a raw event by probe. The catalog's meanings are their documentation. */
export function eventTypes(): string {
  const interfaces = CATALOG.map((probe) => dataInterface(`${typeName(probe.id)}Data`, probe.fields));
  const byProbe = CATALOG.map(
    (probe) => `  /** ${probe.meaning} */\n  readonly ${probe.id}: ${typeName(probe.id)}Data;`,
  );
  return `// Generated from the catalog by \`npm run generate\`. Do not edit.

/** Any JSON value. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [member: string]: JsonValue | undefined };

/** The probe ran to its end. A field that is not in \`data\` was omitted, which is not \`false\`. */
export interface SuccessOutcome<Data> {
  readonly status: "success";
  readonly data: Data;
}

/** The probe was not run. */
export interface SkippedOutcome {
  readonly status: "skipped";
  readonly reason: string;
}

/** The probe did not end in time. */
export interface TimeoutOutcome {
  readonly status: "timeout";
}

/** The probe failed. */
export interface ErrorOutcome {
  readonly status: "error";
  readonly error: string;
}

/** The outcome of one probe. The absence of the probe's key, *omitted*, is a state of its own. */
export type ProbeOutcome<Data = { readonly [field: string]: JsonValue | undefined }> =
  | SuccessOutcome<Data>
  | SkippedOutcome
  | TimeoutOutcome
  | ErrorOutcome;

/** The data of each known probe. */
export interface ProbeDataById {
${byProbe.join("\n")}
}

export type ProbeId = keyof ProbeDataById;

export type ProbeOutcomes = { readonly [Id in ProbeId]?: ProbeOutcome<ProbeDataById[Id]> };

/** One collection: raw observations, no score, no verdict. Unknown probes and members are kept by the endpoint. */
export interface RawSignalEvent {
  /** The \`sessionId\` that was passed to \`collect\`. 1 to 128 code points. */
  readonly session_id: string;
  /** What the host set after authentication. Never proof of identity. */
  readonly client_id?: string;
  readonly event_type: "device_intel_collection";
  readonly schema_version: 1;
  /** RFC 3339 date-time with an offset: the device's claim. */
  readonly collected_at: string;
  readonly probes: ProbeOutcomes;
}

${interfaces.join("\n\n")}
`;
}
