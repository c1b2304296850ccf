import { feature, field, flag } from "@device-risk-signals/features";

export const locationSimulated = feature({
  id: "location_simulated",
  version: 1,
  owner: "fraud team",
  meaning: "The position was made up by software, as the system says",
  falseReadings: ["Developers and players simulate positions", "A changed system can hide the mark"],
  purposes: ["payments"],
  inputs: {
    mock: field("geolocation.isFromMockProvider"),
    software: field("geolocation.isSimulatedBySoftware"),
  },
  output: flag(),
  compute: ({ mock, software }) => {
    // Each platform fills one of the two fields.
    const reading = mock.state === "omitted" && mock.why === "field-absent" ? software : mock;
    return reading.state === "observed" ? reading.value : null;
  },
  fixtures: "./location-simulated.fixtures.json",
});
