import { count, countTrue, feature, field } from "@device-risk-signals/features";

export const hookTraces = feature({
  id: "hook_traces",
  version: 1,
  owner: "fraud team",
  meaning: "How many kinds of traces of hooking in this process were seen, of the kinds that were looked for",
  falseReadings: [
    "Tools for crash reports and performance may map libraries into the process",
    "A developer may test the app with a hooking framework",
  ],
  purposes: ["payments"],
  inputs: {
    framework: field("os_integrity.hookFrameworkFound"),
    libraries: field("os_integrity.injectedLibrariesFound"),
    frames: field("os_integrity.hookStackFrameFound"),
    mappings: field("os_integrity.suspiciousExecutableMappingsFound"),
    preload: field("os_integrity.ldPreloadSet"),
  },
  output: count({ bins: [0, 1, 2] }),
  compute: (inputs) => countTrue(inputs),
  fixtures: "./hook-traces.fixtures.json",
});
