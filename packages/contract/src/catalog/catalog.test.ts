import { describe, expect, it } from "vitest";
import { schemaDocuments } from "../schema/schema.ts";
import { CATALOG } from "./catalog.ts";
/** The released fields: the tables of the contract and of the probe specification. Names are separated by commas. */
import fixture from "./catalog.fixture.json" with { type: "json" };
import type { Field, Probe, Unit } from "./declare.ts";

interface WrittenProbe {
  readonly platforms: string;
  readonly enabledByDefault: boolean;
  readonly types: Readonly<Record<string, string>>;
  readonly required?: string;
  readonly androidOnly?: string;
  readonly iosOnly?: string;
  readonly neverFilled?: string;
}

const WRITTEN = Object.entries<WrittenProbe>(fixture.probes);
const names = (list: string | undefined): string[] => list?.split(", ") ?? [];

function writtenTypes(types: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(types).flatMap(([type, list]) => names(list).map((name) => [name, type])));
}

function writtenFields(probe: WrittenProbe): Record<string, Partial<Field>> {
  const { types, androidOnly, iosOnly, neverFilled } = probe;
  const isIn = (list: string | undefined, name: string): boolean => names(list).includes(name);
  return Object.fromEntries(
    Object.entries(writtenTypes(types)).map(([name, type]) => {
      const android = isIn(iosOnly, name) || isIn(neverFilled, name) ? [] : ["android"];
      const ios = isIn(androidOnly, name) || isIn(neverFilled, name) ? [] : ["ios"];
      return [name, { type, platforms: [...android, ...ios] } as Partial<Field>];
    }),
  );
}

function namesWhere(probe: Probe, matches: (field: Field) => boolean): string[] {
  return Object.entries(probe.fields)
    .filter(([, field]) => matches(field))
    .map(([name]) => name)
    .sort();
}

/** Every field with its path, including the members of object fields. */
const EVERY_FIELD: readonly (readonly [path: string, name: string, field: Field])[] = CATALOG.flatMap((probe) =>
  Object.entries(probe.fields).flatMap(([name, field]) => [
    [`${probe.id}.${name}`, name, field] as const,
    ...Object.entries(field.fields ?? {}).map(
      ([member, inner]) => [`${probe.id}.${name}.${member}`, member, inner] as const,
    ),
  ]),
);

describe("the catalog keeps each released field", () => {
  it.each(WRITTEN)("of the probe %s, with its type and platforms, and requires no other", (id, written) => {
    const probe = CATALOG.find((one) => one.id === id);
    expect(probe?.fields).toMatchObject(writtenFields(written));
    expect(probe && namesWhere(probe, (field) => field.required)).toEqual(names(written.required).sort());
    expect(probe?.platforms.join(", ")).toBe(written.platforms);
    expect(probe?.enabledByDefault).toBe(written.enabledByDefault);
  });

  it("of androidBuild, and requires none of its members", () => {
    const members = CATALOG[0]?.fields["androidBuild"]?.fields ?? {};
    const types = Object.fromEntries(Object.entries(members).map(([name, { type }]) => [name, type]));
    expect(types).toMatchObject(writtenTypes(fixture.androidBuild));
    expect(Object.values(members).filter((member) => member.required)).toEqual([]);
  });
});

it("the catalog marks its additions to the 322 fields of the contract", () => {
  const fields = CATALOG.flatMap((probe) => Object.values(probe.fields));
  expect(fields.filter(({ addition }) => !addition)).toHaveLength(322);
  expect(EVERY_FIELD.find(([path]) => path === "os_integrity.executableMemoryMappings")?.[2].addition).toBe(true);
});

it("one field is an object", () => {
  expect(EVERY_FIELD.filter(([, , field]) => field.type === "object").map(([path]) => path)).toEqual([
    "device_identity.androidBuild",
  ]);
});

describe("the platforms of a field, and whether it is required,", () => {
  it("stay within the platforms of the probe, except the two required flags of single-platform probes", () => {
    const outside = CATALOG.flatMap((probe) =>
      namesWhere(probe, ({ platforms }) => platforms.some((platform) => !probe.platforms.includes(platform))),
    );
    expect(outside).toEqual(["scanPerformed", "testPerformed"]);
  });

  it("fit together: a required field is filled wherever the probe runs", () => {
    for (const probe of CATALOG) {
      const partial = ({ required, platforms }: Field): boolean =>
        required && probe.platforms.some((platform) => !platforms.includes(platform));
      expect(namesWhere(probe, partial)).toEqual([]);
    }
  });

  it("make one field a constant: developerModeEnabled on iOS", () => {
    const constant = EVERY_FIELD.filter(([, , field]) => field.constantOn !== undefined);
    expect(constant.map(([path, , field]) => [path, field.constantOn])).toEqual([
      ["os_integrity.developerModeEnabled", ["ios"]],
    ]);
  });
});

describe("the description of a field", () => {
  it("is one non-empty line", () => {
    for (const { meaning, title } of CATALOG) {
      expect(title).toMatch(/^\S(?:.*\S)?$/);
      expect(meaning).toMatch(/^\S.*\S$/);
    }
    for (const [path, , field] of EVERY_FIELD) expect(field.meaning, path).toMatch(/^\S.*\S$/);
  });

  const UNITS: readonly (readonly [suffix: RegExp, units: readonly Unit[]])[] = [
    [/Ms$/, ["ms", "epoch ms"]],
    [/Ns$/, ["ns"]],
    [/Bytes$/, ["bytes"]],
    [/Mv$/, ["mV"]],
    [/[a-z]C$/, ["°C"]],
    [/Kbps$/, ["kbps"]],
    [/Mhz$/, ["MHz"]],
    [/Px$/, ["px"]],
    [/Meters$/, ["m"]],
    [/Minutes$/, ["minutes"]],
    [/Count$/, ["count"]],
  ];

  it.each(UNITS)("has the unit that the field's name carries: %s", (suffix, units) => {
    const named = EVERY_FIELD.filter(([, name]) => suffix.test(name));
    expect(named).not.toEqual([]);
    for (const [path, , field] of named) {
      expect(field.type, path).toBe("number");
      expect(units, path).toContain(field.unit);
    }
  });

  it("has a unit exactly if the field is a number", () => {
    for (const [path, , field] of EVERY_FIELD) {
      expect(field.unit !== undefined, path).toBe(field.type === "number" || field.type === "number[]");
    }
  });
});

describe("the vocabulary of a text field", () => {
  const filled = EVERY_FIELD.filter(([, , { platforms }]) => platforms.length > 0);
  const texts = filled.filter(([, , { type }]) => type === "string" || type === "string[]");

  it("is declared by exactly one of `values`, `form` and `raw`", () => {
    for (const [path, , { values, form, raw }] of texts) {
      expect(
        [values, form, raw].filter((declared) => declared !== undefined),
        path,
      ).toHaveLength(1);
    }
  });

  it("is declared for exactly the platforms that fill the field", () => {
    for (const [path, , { platforms, values, range }] of filled) {
      for (const declared of [values, range]) if (declared) expect(Object.keys(declared), path).toEqual(platforms);
    }
  });

  it("is in snake_case if the project chose the words", () => {
    for (const [path, , { values = {} }] of texts) {
      if (path === "device_identity.kernelOsType") continue;
      for (const value of Object.values(values).flat()) expect(value, path).toMatch(/^[a-z0-9]+(_[a-z0-9]+)*$/);
    }
  });

  it("is an annotation of the schema that rejects no value", () => {
    const documents = schemaDocuments();
    const data = JSON.stringify(documents["raw-signal-event.schema.json"]).matchAll(
      /"data":(\{"type":"object".*?\}\})\}/g,
    );
    const keywords = new Set(
      [...data].flatMap(([text]) => [...text.matchAll(/"([\w$-]+)":/g)].map(([, name]) => name)),
    );
    for (const rejecting of ["enum", "pattern", "minimum", "maximum", "multipleOf"]) {
      expect(keywords).not.toContain(rejecting);
    }
    for (const annotation of ["x-values", "x-pattern", "x-raw", "x-range", "x-systems"]) {
      expect(keywords).toContain(annotation);
    }
  });
});

it("each probe that declares `performed` names a required field", () => {
  const performed = CATALOG.flatMap(({ id, performed, fields }) => {
    if (!performed) return [];
    expect(fields[performed.field]).toMatchObject({ type: "boolean", required: true });
    return performed.reason === undefined || fields[performed.reason] ? [id] : [];
  });
  expect(performed).toEqual(["os_integrity_frida_scan", "os_integrity_fork_test", "gpu_benchmark", "audio_latency"]);
});
