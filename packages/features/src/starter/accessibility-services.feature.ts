import { count, feature, field } from "@device-risk-signals/features";

export const accessibilityServices = feature({
  id: "accessibility_services",
  version: 1,
  owner: "fraud team",
  meaning: "How many accessibility services are on; Android",
  falseReadings: [
    "Most of them serve people who need them",
    "Password managers and launchers register as accessibility services",
  ],
  purposes: ["payments"],
  inputs: {
    services: field("media_bluetooth_apps.enabledAccessibilityServices"),
  },
  output: count({ bins: [0, 1, 2, 4] }),
  compute: ({ services }) => (services.state === "observed" ? services.value.length : null),
  fixtures: "./accessibility-services.fixtures.json",
});
