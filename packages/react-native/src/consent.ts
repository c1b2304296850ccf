import { isProbeId, type ProbeId } from "@device-risk-signals/contract/catalog/fields";
import type { Host } from "./host.ts";

/** A fixed set of probes, as `consentFor` makes it. */
export class Consent {
  readonly probes: ReadonlySet<ProbeId>;

  constructor(probes: Iterable<ProbeId>) {
    this.probes = new Set(probes);
  }
}

/**
 * Asked once per probe and collection before anything is read, and once more before the event is built. A rejection, a
 * throw, a late answer and any answer but `true` mean no.
 */
export type ConsentFunction = (probe: ProbeId) => boolean | Promise<boolean>;

/**
 * Consent to these probes and no others; without arguments to none. Consent only takes away: a probe that is not
 * enabled stays off.
 * @throws TypeError that names every argument that is no probe.
 */
export function consentFor(...probes: readonly ProbeId[]): Consent {
  const unknown = probes.filter((probe) => typeof probe !== "string" || !isProbeId(probe));
  if (unknown.length > 0) throw new TypeError(`consentFor: no such probe: ${unknown.map(String).join(", ")}`);
  return new Consent(probes);
}

export function isConsent(value: unknown): value is Consent | ConsentFunction {
  return value instanceof Consent || typeof value === "function";
}

/** Whether there is consent to a probe now; never rejects, and takes no longer than `milliseconds`. */
export async function consents(
  consent: Consent | ConsentFunction,
  probe: ProbeId,
  milliseconds: number,
  host: Host,
): Promise<boolean> {
  if (consent instanceof Consent) return consent.probes.has(probe);
  try {
    const answer = consent(probe);
    if (typeof answer === "boolean") return answer;
    return await new Promise<boolean>((resolve) => {
      const timer = host.setTimer(() => resolve(false), milliseconds);
      const settle = (agreed: boolean): void => {
        host.clearTimer(timer);
        resolve(agreed);
      };
      Promise.resolve(answer).then(
        (agreed: unknown) => settle(agreed === true),
        () => settle(false),
      );
    });
  } catch {
    return false;
  }
}
