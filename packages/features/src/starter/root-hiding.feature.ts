import { anyTrue, feature, field, flag } from "@device-risk-signals/features";

export const rootHiding = feature({
  id: "root_hiding",
  version: 1,
  owner: "fraud team",
  meaning: "An app or a mechanism that hides root was seen; Android",
  falseReadings: [
    "A backup of another device may have brought such an app",
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
