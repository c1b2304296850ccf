/** Reads from an event only the fields that features need. */
import { OUTCOME_STATUSES, SKIPPED_REASONS } from "@device-risk-signals/contract";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { Platform } from "@device-risk-signals/contract/catalog/declare";
import type { ManifestInput } from "@device-risk-signals/features";
import type { ParsedEvent } from "@device-risk-signals/features/readings";
import {
  type CatalogIndex,
  type EventScan,
  type EventScanner,
  openScanner,
  renewedScanner,
} from "@device-risk-signals/scanner";
import { parseJson } from "../base/json/parse-json.ts";
import type { OnError } from "../base/ports.ts";
import { parseEvent } from "./parse-event.ts";

/** @returns `undefined` where the exact bytes of an event are no object with probes. */
export type ParseEvent = (platform: string, exact: Buffer) => ParsedEvent | undefined;

interface WantedField {
  readonly name: string;
  /** The number of its entry in the index. */
  readonly entry: number;
}

interface WantedProbe {
  readonly id: string;
  readonly entry: number;
  /** The place of the probe in the catalog. */
  readonly ordinal: number;
  readonly fields: readonly WantedField[];
}

/** Chooses how events are read for these inputs. */
export type ParserOf = (inputs: readonly ManifestInput[]) => ParseEvent;

/**
 * Makes parsers that read only the fields of their inputs, by one scanner. A parser reads the whole event, without the
 * scanner, if the scanner is not certain of it or fails, if a probe was skipped for a reason that the contract does not
 * know, or if an input is not in the catalog of this release. Parsers give the probes and fields of their inputs; others
 * may be missing.
 * @param open makes a scanner. It is called again after an error, which is reported.
 */
export function createParserOf(onError: OnError, open: () => EventScanner = openScanner): ParserOf {
  const withScanner = renewedScanner(open, (error) => onError(error, "scan event"));
  // Each scanner numbers the entries in the same way.
  let entries: ReadonlyMap<string, number> | undefined;
  return (inputs) => {
    const wanted = withScanner(({ index }) => findWanted(inputs, (entries ??= entriesOf(index))));
    if (!wanted) return parseEvent;
    return (platform, exact) => {
      // The result of a scan is in the memory of the scanner, so it is read before the next scan.
      const probes = withScanner((scanner) => {
        const scan = scanner.scanEvent(exact);
        return scan && readProbes(wanted, scan, exact);
      });
      return probes ? { platform: platform as Platform, probes } : parseEvent(platform, exact);
    };
  };
}

/** The numbers of the entries by their paths as JSON. */
const entriesOf = ({ paths }: CatalogIndex): ReadonlyMap<string, number> =>
  new Map(paths.flatMap((path, entry) => (path ? [[JSON.stringify(path), entry] as const] : [])));

/** @returns `undefined` if the index lacks a field. */
function findWanted(
  inputs: readonly ManifestInput[],
  entries: ReadonlyMap<string, number>,
): readonly WantedProbe[] | undefined {
  const names = new Map<string, Set<string>>();
  for (const { path, performedBy } of inputs) {
    const [probe = "", field = ""] = path;
    const fields = names.get(probe) ?? new Set();
    names.set(probe, fields.add(field));
    if (performedBy !== undefined) fields.add(performedBy);
  }
  const wantedProbes: WantedProbe[] = [];
  for (const [id, fields] of names) {
    const entry = entries.get(JSON.stringify([id]));
    const found = [...fields].map((name) => ({ name, entry: entries.get(JSON.stringify([id, name])) ?? -1 }));
    if (entry === undefined || found.some((field) => field.entry === -1)) return undefined;
    wantedProbes.push({ id, entry, ordinal: CATALOG.findIndex((probe) => probe.id === id), fields: found });
  }
  return wantedProbes;
}

const has = ({ seen }: EventScan, entry: number): boolean => ((seen[entry >> 3] as number) & (1 << (entry & 7))) !== 0;

/** @returns `undefined` for a reason that only the text of the event has. */
function readProbes(
  wanted: readonly WantedProbe[],
  scan: EventScan,
  exact: Buffer,
): Readonly<Record<string, unknown>> | undefined {
  const probes: Record<string, unknown> = {};
  for (const { id, entry, ordinal, fields } of wanted) {
    if (!has(scan, entry)) continue;
    const code = scan.outcomes[ordinal] ?? 0;
    const status = OUTCOME_STATUSES[(code >> 4) - 1];
    const reason = status === "skipped" ? SKIPPED_REASONS[code & 15] : undefined;
    // guard(false): a reason that the contract does not know is read from the event
    if (status === "skipped" && reason === undefined) return undefined;
    const data: Record<string, unknown> = {};
    probes[id] = status === "success" ? { status, data } : { status, reason };
    if (status !== "success") continue;
    for (const field of fields) {
      if (!has(scan, field.entry)) continue;
      data[field.name] = valueOf(exact, scan.values[2 * field.entry] ?? 0, scan.values[2 * field.entry + 1] ?? 0);
    }
  }
  return probes;
}

const [TRUE, FALSE] = Buffer.from("tf");

/** The value of a JSON text at a place in the event. Most values are `true` or `false`. */
function valueOf(exact: Buffer, start: number, end: number): unknown {
  if (exact[start] === TRUE) return true;
  if (exact[start] === FALSE) return false;
  return parseJson(exact.subarray(start, end));
}
