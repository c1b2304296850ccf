import { CATALOG } from "@device-risk-signals/contract/catalog";
import { PROBE_IDS } from "@device-risk-signals/contract/catalog/fields";
import type { Platform as PhonePlatform, ProbeId } from "@device-risk-signals/react-native";
import { Platform } from "react-native";

export type Probe = (typeof CATALOG)[number];
export type Field = Probe["fields"][string];

export { PROBE_IDS };

/** A probe's title, meaning and fields, from the contract's catalog. An ordinary app does not need these texts. */
export function probeOf(id: ProbeId): Probe {
  const probe = CATALOG.find((each) => each.id === id);
  if (!probe) throw new TypeError(`no such probe: ${id}`);
  return probe;
}

/** The fields that the SDK fills on a platform, in the catalog's order. */
export function fieldsOn(probe: Probe, platform: PhonePlatform): readonly (readonly [name: string, field: Field])[] {
  return Object.entries(probe.fields).filter(([, { platforms }]) => platforms.includes(platform));
}

export function phonePlatform(): PhonePlatform {
  return Platform.OS === "ios" ? "ios" : "android";
}
