import { count, feature, field, whenObserved } from "@device-risk-signals/features";

export const motionSensorsMissing = feature({
  id: "motion_sensors_missing",
  version: 1,
  owner: "fraud team",
  meaning: "How many of the three, accelerometer, gyroscope and magnetometer, the device lacks",
  falseReadings: [
    "Cheap phones have no gyroscope, and many tablets no magnetometer",
    "A Chromebook may have none of them",
  ],
  purposes: ["payments"],
  inputs: {
    accelerometer: field("os_integrity.hasAccelerometer"),
    gyroscope: field("os_integrity.hasGyroscope"),
    magnetometer: field("os_integrity.hasMagnetometer"),
  },
  output: count({ bins: [0, 1, 2, 3] }),
  compute: ({ accelerometer, gyroscope, magnetometer }) =>
    whenObserved([accelerometer, gyroscope, magnetometer], (...present) => present.filter((has) => !has).length),
  fixtures: "./motion-sensors-missing.fixtures.json",
});
