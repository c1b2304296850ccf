import type { Platform } from "@device-risk-signals/contract/catalog/fields";
import type { EvidenceCase } from "../../evidence/load.ts";
import { SCENARIOS as PHONES } from "../../evidence/scenarios.ts";

/** The scenarios of the mock. Scenarios about the state of the phone are cases of the evidence corpus. */
export const SCENARIOS = [
  "clean-android",
  "clean-ios",
  "rooted-android",
  "jailbroken-ios",
  "emulator-android",
  "simulator-ios",
  "hooked-android",
  "consent-denied",
  "timeouts",
  "errors",
  "full-android",
  "full-ios",
] as const;

export type Scenario = (typeof SCENARIOS)[number];

/**
 * Scenarios of a clean phone on which consent is denied, or native code does not answer or fails. They exist on both
 * platforms.
 */
const FAILING: ReadonlySet<string> = new Set<Scenario>(["consent-denied", "timeouts", "errors"]);

/**
 * The phone of a scenario.
 * @throws TypeError if the scenario is unknown or does not exist on the platform.
 */
export function phoneOf(scenario: Scenario, platform?: Platform): EvidenceCase {
  if (!SCENARIOS.includes(scenario)) throw new TypeError(`no such scenario; there are ${SCENARIOS.join(", ")}`);
  const phone = PHONES.get(FAILING.has(scenario) ? `clean-${platform ?? "android"}` : scenario);
  if (!phone) throw new TypeError(`the scenario ${scenario} has no phone`);
  if (platform !== undefined && phone.platform !== platform) {
    throw new TypeError(`the scenario ${scenario} exists only on ${phone.platform}`);
  }
  return phone;
}
