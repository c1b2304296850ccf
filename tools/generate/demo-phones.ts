/** Simulated phones for `drs demo`: what the SDK answers on a phone of its evidence, several times. */
import { PROBE_IDS, type Platform } from "@device-risk-signals/contract/catalog/fields";
import { readCorpus } from "../../packages/react-native/evidence/read.ts";
import { consentFor } from "../../packages/react-native/src/consent.ts";
import { DeviceIntelOnHost } from "../../packages/react-native/src/device-intel-on-host.ts";
import { hostOf } from "../../packages/react-native/src/jest/mock-host.ts";
import { phoneOf, type Scenario } from "../../packages/react-native/src/jest/scenarios.ts";

/** Cases of `packages/react-native/evidence`. On the phones `full-…`, every probe is enabled. */
const CASES = [
  "google-pixel-8-android-14",
  "google-pixel-9-android-15",
  "samsung-galaxy-s24-android-14",
  "xiaomi-13-android-14",
  "motorola-edge-android-15",
  "nokia-g42-android-14",
  "full-android",
  "rooted-android",
  "magisk-zygisk",
  "hooked-android",
  "emulator-android",
  "device-farm-appium",
  "iphone-12-ios-16",
  "iphone-15-ios-17",
  "iphone-16-ios-18",
  "ipad-ios-17",
  "full-ios",
  "iphone-vpn-and-proxy",
  "jailbroken-ios",
  "simulator-ios",
] as const;

/** Scenarios of the SDK on a clean phone, whose probes give no data. */
const SCENARIOS = [
  ["consent-denied", "android"],
  ["timeouts", "ios"],
  ["errors", "android"],
] as const satisfies readonly (readonly [Scenario, Platform])[];

/** Numbers of the phone's state differ between the events of a phone. */
const SEEDS = [1, 2, 3];

type Probes = Readonly<Record<string, { readonly data?: Readonly<Record<string, unknown>> }>>;

interface Phone {
  readonly platform: Platform;
  /** The probes of the first event. */
  readonly probes: Probes;
  /** The fields of later events that differ from the first, by probe. */
  readonly changes: readonly Readonly<Record<string, Readonly<Record<string, unknown>>>>[];
}

export async function demoPhones(): Promise<Readonly<Record<string, Phone>>> {
  const corpus = readCorpus();
  const phones: [string, Phone][] = [];
  for (const name of CASES) {
    const phone = corpus.get(name);
    if (!phone) throw new Error(`the evidence has no case ${name}`);
    const [first = {}, ...later] = await Promise.all(SEEDS.map((seed) => probesOf(phone, { seed })));
    phones.push([
      name,
      { platform: phone.platform, probes: first, changes: later.map((one) => changesOf(first, one)) },
    ]);
  }
  for (const [scenario, platform] of SCENARIOS) {
    const probes = await probesOf(phoneOf(scenario, platform), { scenario });
    phones.push([`${scenario}-${platform}`, { platform, probes, changes: [] }]);
  }
  return Object.fromEntries(phones);
}

async function probesOf(...[phone, options]: Parameters<typeof hostOf>): Promise<Probes> {
  const isFull = phone.name.startsWith("full-");
  const configuration = {
    consent: options.scenario === "consent-denied" ? consentFor() : consentFor(...PROBE_IDS),
    ...(isFull && { probes: Object.fromEntries(PROBE_IDS.map((probe) => [probe, { enabled: true }])) }),
  };
  // Each look at this clock is a step later, so that measured times are the same in each run.
  let steps = 0;
  const monotonic = (): number => ++steps / 8;
  const intel = new DeviceIntelOnHost(configuration, () => ({ ...hostOf(phone, options), monotonic }));
  return (await intel.collect({ sessionId: "demo" })).probes as Probes;
}

function changesOf(first: Probes, later: Probes): Phone["changes"][number] {
  const changed = Object.entries(later).map(([probe, { data = {} }]) => {
    const before = first[probe]?.data ?? {};
    return [probe, Object.entries(data).filter(([name, value]) => !isSame(before[name], value))] as const;
  });
  return Object.fromEntries(
    changed.flatMap(([probe, fields]) => (fields.length === 0 ? [] : [[probe, Object.fromEntries(fields)]])),
  );
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
