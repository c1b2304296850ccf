/** Names of probes and fields, from the JSON Pointers with which the API names them. */
import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { Probe } from "@device-risk-signals/contract/catalog/declare";

export const PROBES: ReadonlyMap<string, Probe> = new Map(CATALOG.map((probe) => [probe.id, probe]));

/** The title of a probe, or the id of one that the catalog does not know. */
export const titleOf = (id: string): string => PROBES.get(id)?.title ?? id;

const unescaped = (name: string): string => name.replaceAll("~1", "/").replaceAll("~0", "~");

/** The probe of a pointer such as `/probes/fonts/data/fontsDigest`; empty for a member of the event itself. */
export const probeOf = (path: string): string =>
  path.startsWith("/probes/") ? unescaped(path.split("/")[2] ?? "") : "";

/** A field as reviews name it: names from the probe down, joined by dots. `undefined` for one that has no review. */
export function reviewedPathOf(path: string): string | undefined {
  const [, root, ...names] = path.split("/");
  const reviewed = [names[0] ?? "", ...names.slice(2)];
  const isReviewed = root === "probes" && reviewed.length <= 3 && reviewed.every((name) => /^\w{1,64}$/.test(name));
  return isReviewed ? reviewed.join(".") : undefined;
}

/** The names below `data`, which is shown itself if it is empty; or the name of a member of the event. */
export function fieldNameOf(path: string): string {
  const names = path.split("/").slice(1).map(unescaped);
  return (names[0] === "probes" ? names.slice(3) : names).join(".") || (names.at(-1) ?? "");
}
