import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { Departure, FieldPath } from "@device-risk-signals/contract/catalog/check";
import type { ProbeOutcomes } from "@device-risk-signals/contract/catalog/outcomes";
import { CAPTURED, type CatalogIndex, type Scan } from "@device-risk-signals/scanner";
import type { Covers, EventProbes } from "../base/ports.ts";

const KINDS = [undefined, "unknown-probe", "unknown-field", "wrong-type", "missing-field"] as const;
const TYPES = ["absent", "string", "number", "boolean", "null", "array", "object"] as const;
const WORDS_PER_DEPARTURE = 5;
const NO_DEPARTURES: readonly Departure[] = [];
const SYSTEM_VERSION = CAPTURED.indexOf("systemVersion");

/** The result of a scan about the probes. */
export class ScannedProbes implements EventProbes {
  readonly #scan: Scan;
  readonly #body: Buffer;
  readonly parsed: () => Readonly<Record<string, unknown>>;
  #departures: readonly Departure[] | undefined;

  constructor(scan: Scan, body: Buffer, parsed: () => Readonly<Record<string, unknown>>) {
    this.#scan = scan;
    this.#body = body;
    this.parsed = parsed;
  }

  departures(): readonly Departure[] {
    this.#departures ??= this.#scan.departures.length === 0 ? NO_DEPARTURES : this.#readDepartures();
    return this.#departures;
  }

  outcomes(): ProbeOutcomes {
    const { outcomes, unknownOutcomes, captures } = this.#scan;
    const [start = 0, length = 0] = captures.subarray(2 * SYSTEM_VERSION);
    const systemVersion: unknown =
      length === 0 ? undefined : JSON.parse(this.#body.toString("utf8", start, start + length));
    return { known: outcomes, unknown: () => unknownOutcomes, systemVersion };
  }

  areCovered(covers: Covers): boolean {
    const { seen, index } = this.#scan;
    if (uncoveredOf(covers, index).some((entry) => ((seen[entry >> 3] as number) & (1 << (entry & 7))) !== 0)) {
      return false;
    }
    return this.departures().every(({ kind, path: [probe = "", field = ""] }) => {
      if (kind === "unknown-probe") return covers(probe) && covers(probe, field);
      return kind !== "unknown-field" || covers(probe, field);
    });
  }

  #readDepartures(): readonly Departure[] {
    const { departures: words, index } = this.#scan;
    const departures: Departure[] = [];
    for (let at = 0; at < words.length; at += WORDS_PER_DEPARTURE) {
      const [kind = 0, type = 0, place = 0, start = 0, length = 0] = words.subarray(at, at + WORDS_PER_DEPARTURE);
      const name = spelledText(this.#body, start, length);
      departures.push({
        kind: KINDS[kind] as Departure["kind"],
        path: pathOf(KINDS[kind], place, name, index),
        found: TYPES[type] as Departure["found"],
      });
    }
    return departures;
  }
}

/** The text of a string of the body, without its quotes. */
export function spelledText(body: Buffer, start: number, length: number): string {
  const text = body.toString("utf8", start, start + length);
  return text.includes("\\") ? (JSON.parse(`"${text}"`) as string) : text;
}

function pathOf(kind: (typeof KINDS)[number], place: number, name: string, index: CatalogIndex): FieldPath {
  if (kind === "unknown-probe") return [name];
  if (kind === "unknown-field") return [...(index.places.get(place) ?? []), name];
  return index.paths[place] ?? [];
}

const uncovered = new WeakMap<Covers, readonly number[]>();

/** Numbers of the probes and fields that a rule does not cover. They are computed once for each rule. */
function uncoveredOf(covers: Covers, { paths }: CatalogIndex): readonly number[] {
  const known = uncovered.get(covers);
  if (known) return known;
  const probes = new Set(CATALOG.map(({ id }) => id));
  const entries = paths.flatMap((path, entry) => {
    const [probe, field, member] = path ?? [];
    if (probe === undefined || member !== undefined || !probes.has(probe)) return [];
    return covers(probe, field) ? [] : [entry];
  });
  uncovered.set(covers, entries);
  return entries;
}
