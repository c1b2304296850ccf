import { feature, field, flag, whenObserved } from "@device-risk-signals/features";

export const abiTranslated = feature({
  id: "abi_translated",
  version: 1,
  owner: "fraud team",
  meaning: "The app runs as another instruction set than the device prefers; Android",
  falseReadings: [
    "A Chromebook with an Intel processor translates apps for ARM",
    "An app that has only 32-bit code also does so on a 64-bit phone",
  ],
  purposes: ["payments"],
  inputs: {
    abi: field("os_integrity.abi"),
    supported: field("device_identity.androidBuild.supportedAbis"),
  },
  output: flag(),
  compute: ({ abi, supported }) => whenObserved([abi, supported], (own, all) => all.length > 0 && own !== all[0]),
  fixtures: "./abi-translated.fixtures.json",
});
