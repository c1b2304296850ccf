import type { Platform } from "@device-risk-signals/contract/catalog/fields";
import cleanAndroid from "../../evidence/clean-android.json" with { type: "json" };
import cleanIos from "../../evidence/clean-ios.json" with { type: "json" };
import emulatorAndroid from "../../evidence/emulator-android.json" with { type: "json" };
import fullAndroid from "../../evidence/full-android.json" with { type: "json" };
import fullIos from "../../evidence/full-ios.json" with { type: "json" };
import googlePixel8Android14 from "../../evidence/google-pixel-8-android-14.json" with { type: "json" };
import hookedAndroid from "../../evidence/hooked-android.json" with { type: "json" };
import iphone15Ios17 from "../../evidence/iphone-15-ios-17.json" with { type: "json" };
import jailbrokenIos from "../../evidence/jailbroken-ios.json" with { type: "json" };
import rootedAndroid from "../../evidence/rooted-android.json" with { type: "json" };
import simulatorIos from "../../evidence/simulator-ios.json" with { type: "json" };
import { type CaseFile, type EvidenceCase, loadCases } from "../../evidence/load.ts";

/** The scenarios' cases, and those that they are like. */
const CASES = [
  cleanAndroid,
  cleanIos,
  emulatorAndroid,
  fullAndroid,
  fullIos,
  googlePixel8Android14,
  hookedAndroid,
  iphone15Ios17,
  jailbrokenIos,
  rootedAndroid,
  simulatorIos,
] as unknown as readonly CaseFile[];

/** What the mock's phone is and does; those of a phone's state are cases of the evidence corpus. */
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

/** What goes wrong on a clean phone of either platform. */
const FAILING: ReadonlySet<string> = new Set<Scenario>(["consent-denied", "timeouts", "errors"]);

let cases: ReadonlyMap<string, EvidenceCase> | undefined;

/**
 * The phone of a scenario.
 * @throws TypeError for an unknown scenario, or a platform that it is not of.
 */
export function phoneOf(scenario: Scenario, platform?: Platform): EvidenceCase {
  if (!SCENARIOS.includes(scenario)) throw new TypeError(`no such scenario; there are ${SCENARIOS.join(", ")}`);
  cases ??= loadCases(CASES);
  const phone = cases.get(FAILING.has(scenario) ? `clean-${platform ?? "android"}` : scenario);
  if (!phone) throw new TypeError(`the scenario ${scenario} has no phone`);
  if (platform !== undefined && phone.platform !== platform) {
    throw new TypeError(`the scenario ${scenario} is of ${phone.platform}`);
  }
  return phone;
}
