import { factsOf, type Platform, type ProbeId } from "@device-risk-signals/contract/catalog/fields";
import type { Native } from "./native/native-interface.ts";

/** Facts about the engine and React Native that need no native code. A value of another type is unknown. */
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
 * The platform that a collection runs on. React Native's is `react-native-host.ts`; tests and the Jest mock bring their
 * own.
 */
export interface Host {
  /** `Platform.OS`; a collection elsewhere than on `android` and `ios` skips every probe. */
  readonly platform: string;
  /** `undefined` where the app was built without the native half. */
  readonly native: Native | undefined;
  readonly runtime: JavaScriptRuntime;
  /** Milliseconds that never go back, independent of the device's clock. */
  monotonic(): number;
  /** The name of the clock of `monotonic`, for `runtime_timing`. */
  readonly clockSource: string;
  /** The device's claim of the time, as it is. */
  now(): Date;
  setTimer(work: () => void, milliseconds: number): unknown;
  clearTimer(timer: unknown): void;
}

/** The host's platform, where the probe exists on it. */
export function platformOf(host: Host, probe: ProbeId): Platform | undefined {
  return factsOf(probe).platforms.find((platform) => platform === host.platform);
}
