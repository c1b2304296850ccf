import { count, countTrue, feature, field } from "@device-risk-signals/features";

export const emulatorTraces = feature({
  id: "emulator_traces",
  version: 1,
  owner: "fraud team",
  meaning: "How many kinds of traces of an emulator were seen, of the kinds that were looked for",
  falseReadings: [
    "A Chromebook runs Android in a container and shows some of them",
    "A device farm with real phones shows none",
  ],
  purposes: ["payments"],
  inputs: {
    fingerprint: field("os_integrity.emulatorFingerprintMatch"),
    files: field("os_integrity.emulatorFilesFound"),
    simulator: field("os_integrity.simulatorEnvironmentPresent"),
  },
  output: count({ bins: [0, 1, 2] }),
  compute: (inputs) => countTrue(inputs),
  fixtures: "./emulator-traces.fixtures.json",
});
