/** JSON Schema 2020-12 of the raw event, the request and the answers, made from the catalog and the wire rules. */
import { CATALOG } from "../catalog/catalog.ts";
import type { Field, Probe } from "../catalog/declare.ts";
import { ENVELOPE, type MemberRule, type ObjectRule, OUTCOMES, TRANSPORT } from "../wire/members.ts";

export type JsonSchema = { readonly [keyword: string]: unknown };

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** Writes a reference to another schema: by `$id` among the JSON Schema files, by component in OpenAPI. */
export type Refer = (name: SchemaName) => string;
export type SchemaName = "RawSignalEvent" | "TransportRequest" | "CreateResponse" | "Problem";

export const SCHEMA_FILES: Readonly<Record<SchemaName, string>> = {
  RawSignalEvent: "raw-signal-event.schema.json",
  TransportRequest: "transport-request.schema.json",
  CreateResponse: "create-response.schema.json",
  Problem: "problem.schema.json",
};

/** A URN has no path to resolve a relative reference against: documents refer to each other by this whole name. */
function idOf(name: SchemaName): string {
  return `urn:device-risk-signals:schema:${SCHEMA_FILES[name]}`;
}

/** The schemas as self-contained documents, by file name. */
export function schemaDocuments(): Readonly<Record<string, JsonSchema>> {
  const schemas = schemasReferring(idOf);
  const names = Object.keys(schemas) as SchemaName[];
  return Object.fromEntries(
    names.map((name) => [SCHEMA_FILES[name], { $schema: DIALECT, $id: idOf(name), title: name, ...schemas[name] }]),
  );
}

export function schemasReferring(refer: Refer): Readonly<Record<SchemaName, JsonSchema>> {
  return {
    RawSignalEvent: {
      description: "One collection of an on-device SDK: raw observations, no score, no verdict.",
      ...objectSchema(ENVELOPE, refer),
    },
    TransportRequest: {
      description: "A raw event and the metadata that only the host application knows.",
      ...objectSchema(TRANSPORT, refer),
    },
    CreateResponse: {
      description: "The id of the stored event, and whether this request stored it.",
      type: "object",
      additionalProperties: false,
      required: ["event_id", "created"],
      properties: {
        event_id: { type: "string", format: "uuid", description: "Identifier of the stored event (a UUID version 7)." },
        created: { type: "boolean", description: "True for a new event, false for a replay." },
      },
    },
    Problem: {
      description: "A problem document of RFC 9457.",
      type: "object",
      required: ["type", "title", "status", "detail", "errors"],
      properties: {
        type: { type: "string", format: "uri" },
        title: { type: "string" },
        status: { type: "integer", minimum: 400, maximum: 599 },
        detail: { type: "string" },
        errors: {
          type: "array",
          minItems: 1,
          items: {
            type: "object",
            required: ["pointer", "code", "detail"],
            properties: {
              pointer: { type: "string", description: "JSON Pointer (RFC 6901) into the request body." },
              code: { type: "string" },
              detail: { type: "string" },
            },
          },
        },
      },
    },
  };
}

function objectSchema(rule: ObjectRule, refer: Refer): JsonSchema {
  const entries = Object.entries(rule.members);
  return {
    type: "object",
    additionalProperties: rule.open,
    required: entries.filter(([, member]) => member.required).map(([name]) => name),
    properties: Object.fromEntries(
      entries.map(([name, member]) => [name, { description: member.meaning, ...memberSchema(member, refer) }]),
    ),
  };
}

function memberSchema(member: MemberRule, refer: Refer): JsonSchema {
  switch (member.kind) {
    case "string":
      return {
        type: "string",
        ...(member.minLength > 0 && { minLength: member.minLength }),
        ...(member.maxLength !== undefined && { maxLength: member.maxLength }),
        ...(member.promoted && { pattern: "^[^\\u0000]*$" }),
      };
    case "enum":
      return { type: "string", enum: member.values };
    case "constant":
      return { type: typeof member.value === "number" ? "integer" : "string", const: member.value };
    case "date-time":
      return { type: "string", format: "date-time" };
    case "object":
      return { type: "object" };
    case "event":
      return { $ref: refer("RawSignalEvent") };
    case "probes":
      return probesSchema(refer);
  }
}

function probesSchema(refer: Refer): JsonSchema {
  return {
    type: "object",
    properties: Object.fromEntries(CATALOG.map((probe) => [probe.id, outcomeSchema(refer, probe)])),
    additionalProperties: outcomeSchema(refer),
  };
}

/** Accepts each of the four outcomes. For a known probe, it also describes the fields. */
function outcomeSchema(refer: Refer, probe?: Probe): JsonSchema {
  return {
    ...(probe && { description: probe.meaning }),
    oneOf: Object.entries(OUTCOMES).map(([status, rule]) => {
      const schema = objectSchema(rule, refer);
      if (status !== "success" || !probe) return schema;
      return { ...schema, properties: { ...(schema["properties"] as object), data: dataSchema(probe.fields, true) } };
    }),
  };
}

function dataSchema(fields: Readonly<Record<string, Field>>, open: boolean): JsonSchema {
  const entries = Object.entries(fields);
  const required = entries.filter(([, field]) => field.required).map(([name]) => name);
  return {
    type: "object",
    additionalProperties: open,
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(entries.map(([name, field]) => [name, fieldSchema(field)])),
  };
}

/** Annotations (`x-…`) describe what can fill a field; they reject no value. */
function fieldSchema(field: Field): JsonSchema {
  const about = {
    description: field.meaning,
    "x-platforms": field.platforms,
    "x-sensitivity": field.sensitivity,
    ...(field.unit && { "x-unit": field.unit }),
    ...(field.permission && { "x-permission": field.permission }),
    ...(field.constantOn && { "x-constant-on": field.constantOn }),
    ...(field.values && { "x-values": field.values }),
    ...(field.form && { "x-form": field.form.name, "x-pattern": field.form.pattern }),
    ...(field.raw && { "x-raw": true }),
    ...(field.range && { "x-range": field.range }),
    ...(field.systems && { "x-systems": field.systems }),
  };
  switch (field.type) {
    case "string[]":
      return { ...about, type: "array", items: { type: "string" } };
    case "number[]":
      return { ...about, type: "array", items: { type: "number" } };
    case "object":
      return { ...about, ...dataSchema(field.fields ?? {}, false) };
    default:
      return { ...about, type: field.type };
  }
}
