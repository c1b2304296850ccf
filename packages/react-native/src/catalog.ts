/**
 * `@device-risk-signals/react-native/catalog`: the meaning and the sensitivity of each probe and field, for a consent
 * screen. It is a separate entry, so that the bundle of an app that does not import it contains none of these texts.
 */
import { CATALOG as PROBES } from "@device-risk-signals/contract/catalog";
import type { ProbeId } from "@device-risk-signals/contract/catalog/fields";

type Probe = (typeof PROBES)[number];
export type CatalogField = Probe["fields"][string];
export type Sensitivity = CatalogField["sensitivity"];

export interface CatalogProbe extends Probe {
  readonly id: ProbeId;
  /** The highest sensitivity of the probe's fields. */
  readonly sensitivity: Sensitivity;
}

const HIGHEST_FIRST: readonly Sensitivity[] = ["high", "medium", "low"];

/** Every probe of the release, in the contract's order. */
export const CATALOG: readonly CatalogProbe[] = PROBES.map((probe) => {
  const found = new Set(Object.values(probe.fields).map(({ sensitivity }) => sensitivity));
  return {
    ...probe,
    id: probe.id as ProbeId,
    sensitivity: HIGHEST_FIRST.find((sensitivity) => found.has(sensitivity)) ?? "low",
  };
});
