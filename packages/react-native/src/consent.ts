import { isProbeId, type ProbeId } from "@device-risk-signals/contract/catalog/fields";

/** A fixed set of probes. `consentFor` makes it. */
export class Consent {
  readonly probes: ReadonlySet<ProbeId>;

  constructor(probes: Iterable<ProbeId>) {
    this.probes = new Set(probes);
  }
}

/**
 * Answers whether there is consent to a probe. A collection calls it for each probe that could run, before it reads a
 * source of the probe, and again for each probe that ran, before it builds the event. The SDK also calls it when
 * `setConsent` sets it during a collection, and for an observation window. Only the answer `true` gives consent; a
 * rejection, an error or a late answer does not.
 */
export type ConsentFunction = (probe: ProbeId) => boolean | Promise<boolean>;

/**
 * Gives consent to these probes only; without arguments, to no probe. Consent only restricts: a disabled probe stays
 * disabled.
 * @throws TypeError that names every argument that is no probe id
 */
export function consentFor(...probes: readonly ProbeId[]): Consent {
  const unknown = probes.filter((probe) => typeof probe !== "string" || !isProbeId(probe));
  if (unknown.length > 0) {
    throw new TypeError(
      `consentFor: no such probe: ${unknown.map(String).join(", ")}; each id is an argument of its own`,
    );
  }
  return new Consent(probes);
}

export function isConsent(value: unknown): value is Consent | ConsentFunction {
  return value instanceof Consent || typeof value === "function";
}

/**
 * Waits for the result of `begin`, up to a time limit that the caller has chosen. Resolves to `undefined` when the time
 * is up.
 */
export type Bounded = <T>(begin: () => Promise<T>) => Promise<T | undefined>;

/** Whether there is consent to a probe now. The promise never rejects. */
export async function consents(consent: Consent | ConsentFunction, probe: ProbeId, bounded: Bounded): Promise<boolean> {
  if (consent instanceof Consent) return consent.probes.has(probe);
  try {
    const answer: unknown = consent(probe);
    return (typeof answer === "boolean" ? answer : await bounded(() => Promise.resolve(answer))) === true;
  } catch {
    return false;
  }
}
