import { feature, field, flag } from "@device-risk-signals/features";

export const appChangingApps = feature({
  id: "app_changing_apps",
  version: 1,
  owner: "fraud team",
  meaning: "A listed app is installed: one that patches other apps or needs root; Android",
  falseReadings: [
    "People clone messengers to use two accounts",
    "A work profile does not see the apps of the personal profile",
  ],
  purposes: ["payments"],
  inputs: {
    found: field("os_integrity.dangerousAppFound"),
  },
  output: flag(),
  compute: ({ found }) => (found.state === "observed" ? found.value : null),
  fixtures: "./app-changing-apps.fixtures.json",
});
