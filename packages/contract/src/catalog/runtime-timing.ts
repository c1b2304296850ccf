import { number, type Probe, string } from "./declare.ts";
import { DIAGNOSTICS } from "./disclosure.ts";

export const runtimeTiming: Probe = {
  id: "runtime_timing",
  title: "Runtime timing",
  meaning:
    "How finely clocks tick and how evenly code runs, in JavaScript and natively. Varies with load: compare distributions only.",
  platforms: ["android", "ios"],
  enabledByDefault: false,
  disclosure: DIAGNOSTICS,
  fields: {
    jsClockSource: string("The clock the JavaScript samples were taken with: performance.now() or Date.now().", {
      values: ["performance_now", "date_now"],
    }),
    jsTimerSampleCount: number("count", "Samples taken to find the resolution of the JavaScript clock."),
    jsTimerResolutionMs: number("ms", "Smallest step above zero seen on the JavaScript clock.", {
      sensitivity: "medium",
    }),
    eventLoopSampleCount: number("count", "Samples taken of the delay of the event loop."),
    eventLoopP50Ms: number("ms", "Median delay of the event loop.", { sensitivity: "medium" }),
    eventLoopP95Ms: number("ms", "95th percentile of the delay of the event loop.", { sensitivity: "medium" }),
    eventLoopMadMs: number("ms", "Median absolute deviation of the delay of the event loop.", {
      sensitivity: "medium",
    }),
    bridgeRoundTripMs: number("ms", "Time of a call from JavaScript to native code and back.", {
      sensitivity: "medium",
    }),
    nativeClockSource: string(
      "The monotonic clock the native samples were taken with: System.nanoTime on Android, std::chrono::steady_clock on iOS.",
      {
        values: { android: ["system_nano_time"], ios: ["steady_clock"] },
      },
    ),
    nativeSampleCount: number("count", "Samples taken of the native clock.", {
      range: { android: { min: 4096, max: 4096, integer: true }, ios: { min: 0, max: 4096, integer: true } },
    }),
    nativeTimerResolutionNs: number("ns", "Smallest step above zero seen on the native clock.", {
      sensitivity: "medium",
    }),
    nativeIntervalMedianNs: number("ns", "Median interval between consecutive native samples.", {
      sensitivity: "medium",
    }),
    nativeIntervalP95Ns: number("ns", "95th percentile of the interval between consecutive native samples.", {
      sensitivity: "medium",
    }),
    nativeIntervalMadNs: number("ns", "Median absolute deviation of the interval between consecutive native samples.", {
      sensitivity: "medium",
    }),
  },
};
