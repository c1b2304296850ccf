import { factsOf, type Platform, type ProbeId } from "@device-risk-signals/contract/catalog/fields";
import type { Native } from "./native/native-interface.ts";

/** Facts about the engine and React Native that need no native code. A value of the wrong type counts as unknown. */
export interface JavaScriptRuntime {
  readonly jsEngine?: unknown;
  readonly hermesVersion?: unknown;
  readonly reactNativeVersion?: unknown;
  readonly isHermes?: unknown;
  readonly isFabric?: unknown;
  readonly isTurboModule?: unknown;
  readonly isBridgeless?: unknown;
  readonly isDebugBuild?: unknown;
}

/**
 * What a collection needs from the device and the engine. `react-native-host.ts` implements it for React Native; tests
 * and the Jest mock have other implementations.
 */
export interface Host {
  /** `Platform.OS`. On a platform other than `android` and `ios` a collection skips every probe. */
  readonly platform: string;
  /** `undefined` if the app was built without the native half. */
  readonly native: Native | undefined;
  readonly runtime: JavaScriptRuntime;
  /**
   * Milliseconds of a monotonic clock, which a change of the device's clock does not affect. If the engine has no such
   * clock, milliseconds of the device's clock.
   */
  monotonic(): number;
  /** The name of the clock that `monotonic` reads, for `runtime_timing`. */
  readonly clockSource: string;
  /** The time that the device's clock shows, unchanged. */
  now(): Date;
  setTimer(work: () => void, milliseconds: number): unknown;
  clearTimer(timer: unknown): void;
}

/** The host's platform; `undefined` if the probe does not exist on this platform. */
export function platformOf(host: Host, probe: ProbeId): Platform | undefined {
  return factsOf(probe).platforms.find((platform) => platform === host.platform);
}
