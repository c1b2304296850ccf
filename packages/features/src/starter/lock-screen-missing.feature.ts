import { feature, field, flag } from "@device-risk-signals/features";

export const lockScreenMissing = feature({
  id: "lock_screen_missing",
  version: 1,
  owner: "fraud team",
  meaning: "No PIN, pattern, password or passcode is set",
  falseReadings: ["Some people set none", "A device of a test or a shop has none"],
  purposes: ["payments"],
  inputs: {
    secure: field("device_security_posture.hasSecureLockScreen"),
  },
  output: flag(),
  compute: ({ secure }) => (secure.state === "observed" ? !secure.value : null),
  fixtures: "./lock-screen-missing.fixtures.json",
});
