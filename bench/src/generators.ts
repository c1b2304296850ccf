/** The generators of synthetic events, and the size of their events after compression by deflate. */
import { deflateRawSync } from "node:zlib";
import type { RawSignalEvent } from "@device-risk-signals/contract";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { Field } from "../../packages/contract/src/catalog/declare.ts";
import { fullEvent } from "./full-event.ts";
import { unseenEvent } from "./unseen-event.ts";

export const GENERATORS = { full: fullEvent, unseen: unseenEvent } satisfies Record<
  string,
  (seed: number, collectedAt: Date) => RawSignalEvent
>;
export type Generator = keyof typeof GENERATORS;

/** The load generators use smaller seeds. */
const FIRST_SEED = 2 ** 31;

function namesOf(fields: Readonly<Record<string, Field>>): string[] {
  return Object.entries(fields).flatMap(([name, field]) => [name, ...namesOf(field.fields ?? {})]);
}

/**
 * The mean size of an event after deflate at level 6 with the catalog's names as dictionary. Stored bytes are compared
 * with this size.
 */
export function deflatedBytes(generator: Generator, samples = 500): number {
  const names = CATALOG.flatMap(({ id, fields }) => [id, ...namesOf(fields)]);
  const dictionary = Buffer.from(names.map((name) => `"${name}":`).join(","));
  const sizes = Array.from({ length: samples }, (_, index) => {
    const text = JSON.stringify(
      GENERATORS[generator](FIRST_SEED + index, new Date(1_790_000_000_000 + index * 977_000)),
    );
    return deflateRawSync(text, { level: 6, dictionary }).length;
  });
  return sizes.reduce((sum, size) => sum + size, 0) / samples;
}
