import { count, feature, field, whenObserved } from "@device-risk-signals/features";

export const clockSetByHand = feature({
  id: "clock_set_by_hand",
  version: 1,
  owner: "fraud team",
  meaning: "How many of the two, clock and time zone, are set by hand; Android",
  falseReadings: [
    "People without a mobile network, or in border regions, set them by hand",
    "Some travellers keep the time zone of their home",
  ],
  purposes: ["payments"],
  inputs: {
    time: field("device_security_posture.automaticTimeEnabled"),
    zone: field("device_security_posture.automaticTimeZoneEnabled"),
  },
  output: count({ bins: [0, 1, 2] }),
  compute: ({ time, zone }) => whenObserved([time, zone], (...automatic) => automatic.filter((is) => !is).length),
  fixtures: "./clock-set-by-hand.fixtures.json",
});
