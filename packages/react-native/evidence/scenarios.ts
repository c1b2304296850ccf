/**
 * The cases that an app's tests can select as scenarios of the mock. They are imported one by one, so that the mock
 * needs no file system.
 */
import cleanAndroid from "./clean-android.json" with { type: "json" };
import cleanIos from "./clean-ios.json" with { type: "json" };
import emulatorAndroid from "./emulator-android.json" with { type: "json" };
import fullAndroid from "./full-android.json" with { type: "json" };
import fullIos from "./full-ios.json" with { type: "json" };
import pixel from "./google-pixel-8-android-14.json" with { type: "json" };
import hookedAndroid from "./hooked-android.json" with { type: "json" };
import iphone from "./iphone-15-ios-17.json" with { type: "json" };
import jailbrokenIos from "./jailbroken-ios.json" with { type: "json" };
import { type CaseFile, type EvidenceCase, loadCases } from "./load.ts";
import rootedAndroid from "./rooted-android.json" with { type: "json" };
import simulatorIos from "./simulator-ios.json" with { type: "json" };

const FILES = [
  cleanAndroid,
  rootedAndroid,
  hookedAndroid,
  emulatorAndroid,
  fullAndroid,
  cleanIos,
  jailbrokenIos,
  simulatorIos,
  fullIos,
] as unknown as readonly CaseFile[];

/** The cases that the scenarios extend. They are no scenarios themselves. */
const BASE_CASES = [pixel, iphone] as unknown as readonly CaseFile[];

const cases = loadCases([...FILES, ...BASE_CASES]);

export const SCENARIOS: ReadonlyMap<string, EvidenceCase> = new Map(
  [...cases].filter(([name]) => FILES.some((file) => file.name === name)),
);
