import { Platform, TurboModuleRegistry } from "react-native";
import type { Host, JavaScriptRuntime } from "../host.ts";
import type { Native } from "./native-interface.ts";
import type { Spec } from "./NativeDeviceRiskSignals.ts";

interface Globals {
  readonly HermesInternal?: { getRuntimeProperties?(): Readonly<Record<string, unknown>> } | null;
  readonly nativeFabricUIManager?: unknown;
  readonly __turboModuleProxy?: unknown;
  readonly RN$Bridgeless?: boolean;
  readonly __DEV__?: boolean;
  readonly performance?: { now?(): number };
  setTimeout(work: () => void, milliseconds: number): unknown;
  clearTimeout(timer: unknown): void;
}

let host: Host | undefined;

/** The host for the React Native that runs this app. The first call makes the host. */
export function reactNativeHost(): Host {
  host ??= makeHost(globalThis);
  return host;
}

function makeHost(globals: Globals): Host {
  const precise = typeof globals.performance?.now === "function";
  return {
    platform: Platform.OS,
    native: findNative(),
    runtime: runtimeOf(globals),
    monotonic: precise ? () => globals.performance?.now?.() ?? 0 : () => Date.now(),
    clockSource: precise ? "performance_now" : "date_now",
    now: () => new Date(),
    setTimer: (work, milliseconds) => globals.setTimeout(work, milliseconds),
    clearTimer: (timer) => globals.clearTimeout(timer),
  };
}

/** `undefined` if the native half was not built in: in Expo Go, in a web bundle, or in Jest without the mock. */
function findNative(): Native | undefined {
  try {
    return TurboModuleRegistry.get<Spec>("DeviceRiskSignals") ?? undefined;
  } catch {
    return undefined;
  }
}

function hermesReleaseOf({ HermesInternal: hermes }: Globals): unknown {
  try {
    return hermes?.getRuntimeProperties?.()["OSS Release Version"];
  } catch {
    return undefined;
  }
}

function runtimeOf(globals: Globals): JavaScriptRuntime {
  const hermes = globals.HermesInternal;
  const version = Platform.constants?.reactNativeVersion;
  return {
    isHermes: hermes !== undefined && hermes !== null,
    jsEngine: hermes ? "hermes" : undefined,
    hermesVersion: hermesReleaseOf(globals),
    reactNativeVersion: version && `${version.major}.${version.minor}.${version.patch}`,
    isFabric: globals.nativeFabricUIManager !== undefined,
    isTurboModule: globals.__turboModuleProxy !== undefined || globals.RN$Bridgeless === true,
    isBridgeless: globals.RN$Bridgeless === true,
    isDebugBuild: globals.__DEV__,
  };
}
