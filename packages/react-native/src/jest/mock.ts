/**
 * `@device-risk-signals/react-native` for an app's tests: the real SDK on a simulated phone.
 *
 * ```js
 * jest.mock("@device-risk-signals/react-native", () => require("@device-risk-signals/react-native/jest"));
 * require("@device-risk-signals/react-native/jest").setScenario("rooted-android");
 * ```
 */
import { PROBE_IDS, type Platform } from "@device-risk-signals/contract/catalog/fields";
import type { CollectedEvent } from "../collection.ts";
import type { Configuration } from "../configuration.ts";
import { type Consent, consentFor, type ConsentFunction, isConsent } from "../consent.ts";
import { type CollectOptions, DeviceIntelOnHost } from "../device-intel-on-host.ts";
import { mockHost, type MockPhone } from "./mock-host.ts";
import type { Scenario } from "./scenarios.ts";

export { consentFor } from "../consent.ts";
export { AbortError, MisuseError } from "../misuse.ts";
export { readField } from "../read-field.ts";
export { type Scenario, SCENARIOS } from "./scenarios.ts";

let phone: MockPhone = { scenario: "clean-android" };

/**
 * Sets the scenario for the later collections of all instances.
 * @param platform the platform, for `consent-denied`, `timeouts` and `errors`; default Android.
 * @throws TypeError if the scenario is unknown or does not exist on the platform.
 */
export function setScenario(scenario: Scenario, platform?: Platform): void {
  mockHost({ scenario, platform });
  phone = { scenario, platform };
}

/** `DeviceIntel` on the phone of the current scenario. Configuration and consent work as on a real phone. */
export class DeviceIntel extends DeviceIntelOnHost {
  #chosenConsent: Consent | ConsentFunction;

  constructor(configuration: Configuration = {}) {
    super(configuration, () => mockHost(phone));
    this.#chosenConsent = isConsent(configuration?.consent) ? configuration.consent : consentFor();
  }

  override setConsent(consent: Consent | ConsentFunction): void {
    super.setConsent(consent);
    this.#chosenConsent = consent;
  }

  override async collect(options: CollectOptions): Promise<CollectedEvent> {
    super.setConsent(phone.scenario === "consent-denied" ? consentFor() : this.#chosenConsent);
    return await super.collect(options);
  }
}

/**
 * Makes one event of a scenario. `full-android` and `full-ios` enable every probe; the other scenarios enable the
 * default probes.
 */
export async function sampleEvent({ scenario, platform, seed }: MockPhone): Promise<CollectedEvent> {
  const full = scenario.startsWith("full-");
  const configuration: Configuration = {
    consent: scenario === "consent-denied" ? consentFor() : consentFor(...PROBE_IDS),
    ...(full && { probes: Object.fromEntries(PROBE_IDS.map((probe) => [probe, { enabled: true }])) }),
  };
  const intel = new DeviceIntelOnHost(configuration, () => mockHost({ scenario, platform, seed }));
  return await intel.collect({ sessionId: seed === undefined ? "session-1" : `session-${seed}` });
}
