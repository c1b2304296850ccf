/**
 * `@device-risk-signals/react-native/catalog`: what each probe and field means and how sensitive it is, for a consent
 * screen. An entry of its own: an app that does not import it has none of these texts in its bundle.
 */
import { CATALOG as PROBES } from "@device-risk-signals/contract/catalog";
import type { ProbeId } from "@device-risk-signals/contract/catalog/fields";

type Probe = (typeof PROBES)[number];
export type CatalogField = Probe["fields"][string];
export type Sensitivity = CatalogField["sensitivity"];

export interface CatalogProbe extends Probe {
  readonly id: ProbeId;
  /** The highest of its fields. */
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
