import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CATALOG } from "../catalog/catalog.ts";
import { checkAgainstCatalog } from "../catalog/check.ts";
import type { Field } from "../catalog/declare.ts";
import { VIOLATIONS, problemOf, type ProblemCode, PROBLEMS, reject } from "../errors.ts";
import { parseDateTime } from "../timestamp.ts";
import { bodyWith, type Path, pathsOf, replaced, validRequest } from "../wire/request.fixture.ts";
import { validateTransportRequest } from "../wire/validate.ts";
import { openApiDocument, schemaDocuments } from "./schema.ts";

const DOCUMENTS = schemaDocuments();
const CODES = Object.keys(PROBLEMS) as ProblemCode[];

/** The strict mode makes a misspelt keyword an error. Keywords with `x-` are annotations of this project. */
const ajv = new Ajv2020({
  strictTypes: false,
  keywords: [
    "x-platforms",
    "x-sensitivity",
    "x-unit",
    "x-permission",
    "x-constant-on",
    "x-values",
    "x-form",
    "x-pattern",
    "x-raw",
    "x-range",
    "x-systems",
  ],
  formats: { "date-time": (text: string) => parseDateTime(text) !== undefined, uuid: true, uri: true },
});
for (const document of Object.values(DOCUMENTS)) ajv.addSchema(document);

function accepts(file: string, value: unknown): boolean {
  const validate = ajv.getSchema(`urn:device-risk-signals:schema:${file}`);
  if (!validate) throw new Error(`no schema ${file}`);
  return validate(value) === true;
}

/**
 * Whether the published schema must accept a body: if it follows the wire rules and every field of the catalog agrees
 * with the catalog.
 */
function conforms(body: unknown): boolean {
  const result = validateTransportRequest(body);
  if (!result.ok) return false;
  return checkAgainstCatalog(result.request.observations.probes).every(
    ({ kind, path }) => kind === "unknown-probe" || (kind === "unknown-field" && path.length === 2),
  );
}

const SAMPLES = { string: "s", boolean: false, number: 0.5, "string[]": ["s"], "number[]": [1] };

function dataOf(fields: Readonly<Record<string, Field>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      field.type === "object" ? dataOf(field.fields ?? {}) : SAMPLES[field.type],
    ]),
  );
}

/** The valid body with every probe and every field of the catalog, and an unknown probe. */
const FULL_BODY = bodyWith("observations.probes", {
  ...Object.fromEntries(CATALOG.map(({ id, fields }) => [id, { status: "success", data: dataOf(fields) }])),
  unknown_probe: { status: "success", data: { x: 1 } },
});

/** Values for any place of a body: valid in one place, invalid in another. `undefined` removes the member. */
const REPLACEMENTS = [
  [undefined, null, true, 0, 1, 2, [], ["text"], {}, { x: 1 }],
  ["", "text", "\0", "ios", "success", "timeout", "error", "2026-03-01T12:00:00Z", "2026-02-30T12:00:00Z"],
  ["a".repeat(65), "a".repeat(129), "\u{1f600}".repeat(128), "\u{1f600}".repeat(129)],
  [{ status: "timeout" }, { status: "skipped", reason: "x" }, { status: "error", error: "x", data: {} }],
].flat();

describe("the JSON Schemas", () => {
  it("are valid and refer to each other", () => {
    for (const document of Object.values(DOCUMENTS)) {
      expect(ajv.getSchema(String(document["$id"]))).toBeTypeOf("function");
    }
  });

  it("accept the request with every field of the catalog", () => {
    expect(accepts("transport-request.schema.json", FULL_BODY)).toBe(true);
    expect(accepts("transport-request.schema.json", validRequest())).toBe(true);
  });

  it("reject a body in which a field of the catalog has the wrong type, or a required field is missing", () => {
    const places = pathsOf(FULL_BODY).filter((path) => path[3] === "data" && path.length > 4);
    const known = CATALOG.flatMap(({ fields }) => Object.keys(fields));
    expect(places.filter((path) => path.length === 5 && path[2] !== "unknown_probe")).toHaveLength(known.length);
    for (const path of places) {
      for (const put of [null, undefined, 7, "text"]) {
        const body = replaced(FULL_BODY, path, put);
        expect(accepts("transport-request.schema.json", body), `${path.join("/")}: ${put}`).toBe(conforms(body));
      }
    }
  });

  it("agree with the validator about a body that is changed in any place", () => {
    const bodies = [validRequest(), FULL_BODY].map((body) => [body, pathsOf(body)] as const);
    const replacement = fc.constantFrom<unknown>(...REPLACEMENTS);
    const seen = { true: 0, false: 0 };
    fc.assert(
      fc.property(
        fc.constantFrom(...bodies),
        fc.array(fc.tuple(fc.nat(), fc.boolean(), replacement), { minLength: 1, maxLength: 2 }),
        ([valid, paths], changes) => {
          const changed = changes.reduce<unknown>((body, [index, isAdded, put]) => {
            const path: Path = paths[index % paths.length] ?? [];
            return replaced(body, isAdded ? [...path.slice(0, -1), "added"] : path, put);
          }, valid);
          const body: unknown = JSON.parse(JSON.stringify(changed));
          const expected = conforms(body);
          seen[`${expected}`]++;
          expect(accepts("transport-request.schema.json", body)).toBe(expected);
        },
      ),
      { numRuns: 1_500 },
    );
    expect(Math.min(seen.true, seen.false)).toBeGreaterThan(100);
  });

  it.each(CODES)("describe the problem document of %s", (code) => {
    expect(accepts("problem.schema.json", problemOf(reject(code)))).toBe(true);
  });

  it("accept the answer of the endpoint, and no answer with other members", () => {
    const answer = { event_id: "0199b0a0-0000-7000-8000-000000000000", created: true };
    expect(accepts("create-response.schema.json", answer)).toBe(true);
    expect(accepts("create-response.schema.json", { ...answer, score: 1 })).toBe(false);
    expect(accepts("create-response.schema.json", { event_id: answer.event_id })).toBe(false);
  });
});

describe("the OpenAPI document", () => {
  const document = openApiDocument("1.2.3");

  function valueAt(pointer: string): unknown {
    return pointer
      .split("/")
      .slice(1)
      .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], document);
  }

  it("refers only to components that it contains", () => {
    const targets = pathsOf(document)
      .filter((path) => path.at(-1) === "$ref")
      .map((path) => path.reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], document));
    expect(targets.length).toBeGreaterThan(10);
    for (const target of targets) {
      expect(target).toMatch(/^#\//);
      expect(valueAt(String(target).slice(1)), String(target)).toBeTypeOf("object");
    }
  });

  it("lists every status of the registry, with every code that has it", () => {
    const responses = valueAt("/paths/~1api~1v1~1device-signal-events/post/responses") as Record<
      string,
      { readonly description: string }
    >;
    const statuses = CODES.map((code) => String(PROBLEMS[code].status));
    expect(Object.keys(responses).sort()).toEqual([...new Set(["200", "201", ...statuses])].sort());
    for (const code of CODES) expect(responses[PROBLEMS[code].status]?.description).toContain(`\`${code}\``);
  });
});

describe("docs/errors.md", () => {
  const page = readFileSync(new URL("../../../../docs/errors.md", import.meta.url), "utf8");

  it("explains every code of the registry for clients, and no other code", () => {
    const forClients = page.slice(0, page.indexOf("## Errors of the server"));
    const explained = [...forClients.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1]);
    expect(explained).toEqual([...CODES, ...Object.keys(VIOLATIONS)]);
    for (const code of CODES) expect(page).toContain(`| \`${code}\` | ${PROBLEMS[code].status} |`);
  });
});
