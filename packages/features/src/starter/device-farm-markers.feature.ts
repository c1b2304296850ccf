import { count, feature, field } from "@device-risk-signals/features";

export const deviceFarmMarkers = feature({
  id: "device_farm_markers",
  version: 1,
  owner: "fraud team",
  meaning: "How many markers of device farms were seen",
  falseReadings: ["A developer may have installed the agent of a farm on a private phone"],
  purposes: ["payments"],
  inputs: {
    markers: field("os_integrity.deviceFarmMarkers"),
  },
  output: count({ bins: [0, 1, 2] }),
  compute: ({ markers }) => (markers.state === "observed" ? markers.value.length : null),
  fixtures: "./device-farm-markers.fixtures.json",
});
