import { factsOf, type ProbeId } from "@device-risk-signals/contract/catalog/fields";
import type { Host } from "./host.ts";
import { observeRuntimeTiming } from "./runtime-timing.ts";

const namesOf = (probe: ProbeId): readonly string[] => [...factsOf(probe).fields.keys()];

/** Fields that JavaScript observes itself, on both platforms. */
export const JAVASCRIPT_FIELDS: Readonly<Partial<Record<ProbeId, readonly string[]>>> = {
  runtime: namesOf("runtime"),
  // Native code reads the other fields of this probe.
  runtime_timing: namesOf("runtime_timing").filter((name) => !name.startsWith("native")),
};

/** @param stopped returns whether the caller has stopped waiting. */
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
    // The contract requires this field, but no public API of iOS provides it. So the value is a constant, and the
    // catalog says so.
    case "os_integrity":
      return { developerModeEnabled: false };
    default:
      return {};
  }
}
