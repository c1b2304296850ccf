import { anyTrue, feature, field, flag } from "@device-risk-signals/features";

export const rootHiding = feature({
  id: "root_hiding",
  version: 1,
  owner: "fraud team",
  meaning: "An app or a mechanism that hides root was seen; Android",
  falseReadings: [
    "A person may have installed such an app for another device of a backup",
    "A work profile does not see the apps of the personal profile",
  ],
  purposes: ["payments"],
  inputs: {
    cloaking: field("os_integrity.rootCloakingAppFound"),
    zygisk: field("os_integrity.zygiskIndicatorsFound"),
  },
  output: flag(),
  compute: (inputs) => anyTrue(inputs),
  fixtures: "./root-hiding.fixtures.json",
});
