import { factsOf, type Platform, type ProbeId } from "@device-risk-signals/contract/catalog/fields";
import type { Host } from "./host.ts";
import { observeRuntimeTiming } from "./runtime-timing.ts";

type FieldNames = Readonly<Partial<Record<ProbeId, readonly string[]>>>;

const namesOf = (probe: ProbeId): readonly string[] => [...factsOf(probe).fields.keys()];

const BOTH: FieldNames = {
  runtime: namesOf("runtime"),
  // The others are the native half's.
  runtime_timing: namesOf("runtime_timing").filter((name) => !name.startsWith("native")),
};

/** What JavaScript observes by itself. */
export const JAVASCRIPT_FIELDS: Readonly<Record<Platform, FieldNames>> = {
  android: BOTH,
  // Required by the contract and readable by no public API of iOS: a constant, marked so in the catalog.
  ios: { ...BOTH, os_integrity: ["developerModeEnabled"] },
};

/** @param stopped whether anybody still waits for it. */
export async function observeInJavaScript(
  probe: ProbeId,
  wanted: ReadonlySet<string>,
  host: Host,
  stopped: () => boolean,
): Promise<Readonly<Record<string, unknown>>> {
  if (wanted.size === 0) return {};
  switch (probe) {
    case "runtime":
      return { platformOs: host.platform, ...host.runtime };
    case "runtime_timing":
      return await observeRuntimeTiming(wanted, host, stopped);
    case "os_integrity":
      return { developerModeEnabled: false };
    default:
      return {};
  }
}
