import type { ProbeDataById, ProbeOutcome, RawSignalEvent } from "@device-risk-signals/contract";
import { factsOf, isProbeId } from "@device-risk-signals/contract/catalog/fields";

/** The five states of a field. No two of them mean the same: an observed `false` is `observed`. */
export type FieldState<Value> =
  | { readonly state: "observed"; readonly value: Value }
  | { readonly state: "omitted" }
  | { readonly state: "skipped"; readonly reason: string }
  | { readonly state: "timeout" }
  | { readonly state: "error"; readonly error: string };

/**
 * Reads the state of one field from an event.
 * @param platform the platform of the event, such as `Platform.OS`. On a platform where the field is a constant, its
 * value is no observation and is read as omitted.
 */
export function readField<Probe extends keyof ProbeDataById, Field extends keyof ProbeDataById[Probe] & string>(
  event: Pick<RawSignalEvent, "probes">,
  probe: Probe,
  field: Field,
  platform: string,
): FieldState<NonNullable<ProbeDataById[Probe][Field]>> {
  const probes = event.probes as Readonly<Record<string, ProbeOutcome>>;
  const outcome = Object.hasOwn(probes, probe) ? probes[probe] : undefined;
  if (!outcome) return { state: "omitted" };
  if (outcome.status !== "success") {
    const { status: state, ...why } = outcome;
    return { state, ...why } as FieldState<never>;
  }
  const { data } = outcome;
  const constant = platform === "ios" && isProbeId(probe) && factsOf(probe).fields.get(field)?.constantOnIos;
  if (constant === true || !Object.hasOwn(data, field)) return { state: "omitted" };
  return { state: "observed", value: data[field] as NonNullable<ProbeDataById[Probe][Field]> };
}
