import { feature, field, flag } from "@device-risk-signals/features";

export const developerOptions = feature({
  id: "developer_options",
  version: 1,
  owner: "fraud team",
  meaning: "Developer options are on, as Android says",
  falseReadings: [
    "Developers and curious people turn them on",
    "Android 17 QPR1 and later may hide them: false is then no observation of the setting",
  ],
  purposes: ["payments"],
  inputs: {
    developer: field("os_integrity.developerModeEnabled"),
  },
  output: flag(),
  compute: ({ developer }) => (developer.state === "observed" ? developer.value : null),
  fixtures: "./developer-options.fixtures.json",
});
