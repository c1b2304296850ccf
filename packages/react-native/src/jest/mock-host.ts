import type { Platform } from "@device-risk-signals/contract/catalog/fields";
import { answer, type EvidenceCase } from "../../evidence/load.ts";
import type { Host } from "../host.ts";
import type { Native, NativeAnswer } from "../native/native-interface.ts";
import { phoneOf, type Scenario } from "./scenarios.ts";

export interface MockPhone {
  readonly scenario: Scenario;
  /** The platform, for scenarios that exist on both platforms; default Android. */
  readonly platform?: Platform | undefined;
  /**
   * A seed that varies the values that change over time on a phone, such as free memory. The same seed gives the same
   * values.
   */
  readonly seed?: number | undefined;
}

/** The phone of a scenario. In the scenario `timeouts`, the time limit of a call ends without a wait. */
export const mockHost = ({ scenario, platform, seed }: MockPhone): Host =>
  hostOf(phoneOf(scenario, platform), { scenario, seed });

/**
 * A phone that answers at once with the evidence of a case of the corpus. It sets no timer of JavaScript, so that it
 * also works under a test's fake timers.
 */
export function hostOf(phone: EvidenceCase, { scenario, seed }: Partial<Omit<MockPhone, "platform">>): Host {
  const timers: (() => void)[] = [];
  const native: Native = {
    async collect(_call, probe, request) {
      if (scenario === "errors") throw new Error("failed");
      if (scenario !== "timeouts") return varyAnswer(answer(phone, probe, request), seed);
      // The timer that was set last is the time limit of this call.
      const timer = timers.at(-1);
      await Promise.resolve();
      timer?.();
      return await new Promise<never>(() => {});
    },
    cancel: () => {},
    startObservation: async () => true,
    stopObservation: () => {},
    echo: async (value) => value,
  };
  return {
    platform: phone.platform,
    native,
    runtime: {
      jsEngine: "hermes",
      hermesVersion: "250829098.0.16",
      reactNativeVersion: "0.86.3",
      isHermes: true,
      isFabric: true,
      isTurboModule: true,
      isBridgeless: true,
      isDebugBuild: false,
    },
    monotonic: () => performance.now(),
    clockSource: "performance_now",
    now: () => new Date(),
    setTimer: (work, milliseconds) => {
      if (milliseconds === 0) void Promise.resolve().then(work);
      else timers.push(work);
      return work;
    },
    clearTimer: () => {},
  };
}

/** Fields that `seed` varies, because they change over time on a phone. */
const VARYING_FIELDS: ReadonlySet<string> = new Set([
  "freeMemoryBytes",
  "storageFreeBytes",
  "processResidentMemoryBytes",
  "uptimeMs",
  "processUptimeMs",
]);

function varyAnswer(given: NativeAnswer, seed: number | undefined): NativeAnswer {
  if (seed === undefined) return given;
  const fields = Object.entries(given.fields ?? {}).map(([name, value]) => [
    name,
    VARYING_FIELDS.has(name) && typeof value === "number"
      ? Math.round(value * (0.5 + pseudoRandomShare(seed, name)))
      : value,
  ]);
  return { ...given, fields: Object.fromEntries(fields) as Record<string, unknown> };
}

/** A number from 0 to 1, derived from seed and name by a multiplicative hash. */
function pseudoRandomShare(seed: number, name: string): number {
  let hash = Math.imul(seed | 0, 2_654_435_761);
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 16_777_619);
  return (hash >>> 0) / 2 ** 32;
}
