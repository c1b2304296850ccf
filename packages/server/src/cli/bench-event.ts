import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { Field } from "@device-risk-signals/contract/catalog/declare";

const DIGITS = 12;

/** The session value and the app version of the events of a bench, by which these events can be recognised. */
export const BENCH_SESSION = "drs-bench";

/**
 * A raw event with every field of the catalog, of about 12 KB. No two such events are alike. The values have the types
 * of the catalog, but are not plausible.
 */
export function benchEvent(random: () => number, collectedAt: Date): Readonly<Record<string, unknown>> {
  const probes = CATALOG.map(({ id, fields }) => [id, { status: "success", data: valuesOf(fields, random) }]);
  return {
    session_id: BENCH_SESSION,
    event_type: "device_intel_collection",
    schema_version: 1,
    collected_at: collectedAt.toISOString(),
    probes: Object.fromEntries(probes),
  };
}

const valuesOf = (fields: Readonly<Record<string, Field>>, random: () => number): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, valueOf(field, random)]));

function valueOf(field: Field, random: () => number): unknown {
  const words = (): string =>
    `value-${random()
      .toString(16)
      .slice(2, 2 + DIGITS)}`;
  switch (field.type) {
    case "boolean":
      return random() < 0.5;
    case "number":
      return Math.floor(random() * 1_000);
    case "string":
      return field.values?.android?.[0] ?? words();
    case "string[]":
      return [words(), words()];
    case "number[]":
      return [Math.floor(random() * 1_000)];
    case "object":
      return valuesOf(field.fields ?? {}, random);
  }
}
