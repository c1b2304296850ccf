import { category, feature, field, whenObserved } from "@device-risk-signals/features";

export const bootState = feature({
  id: "boot_state",
  version: 1,
  owner: "fraud team",
  meaning: "What the system says about bootloader and verified boot; Android",
  falseReadings: ["Developers unlock the bootloader of their phones", "Root rewrites both: `locked` is no proof"],
  purposes: ["payments"],
  inputs: {
    locked: field("os_integrity.bootloaderLocked"),
    verified: field("os_integrity.verifiedBootState"),
  },
  output: category(["locked", "unlocked", "own-key", "contradiction", "other"]),
  compute: ({ locked, verified }) =>
    whenObserved([locked, verified], (isLocked, state) => {
      if (state === "orange") return isLocked ? "contradiction" : "unlocked";
      if (state === "yellow") return "own-key";
      if (state === "green") return isLocked ? "locked" : "contradiction";
      return "other";
    }),
  fixtures: "./boot-state.fixtures.json",
});
