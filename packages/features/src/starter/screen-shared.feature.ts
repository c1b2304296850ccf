import { anyTrue, feature, field, flag } from "@device-risk-signals/features";

export const screenShared = feature({
  id: "screen_shared",
  version: 1,
  owner: "fraud team",
  meaning: "The screen was recorded, cast or mirrored at the moment of collection",
  falseReadings: [
    "A person may show the phone on a television, or record a bug",
    "Before Android 15 no app sees a recording",
  ],
  purposes: ["payments"],
  inputs: {
    captured: field("media_bluetooth_apps.isScreenCaptured"),
    mirrored: field("media_bluetooth_apps.isScreenMirrored"),
  },
  output: flag(),
  compute: ({ captured, mirrored }) => {
    // Android says nothing about mirroring.
    if (mirrored.state === "omitted" && mirrored.why === "field-absent")
      return captured.state === "observed" ? captured.value : null;
    return anyTrue({ captured, mirrored });
  },
  fixtures: "./screen-shared.fixtures.json",
});
