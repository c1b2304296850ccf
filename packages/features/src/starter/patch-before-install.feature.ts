import { category, dayNumber, dayOfEpochMs, feature, field, whenObserved } from "@device-risk-signals/features";

export const patchBeforeInstall = feature({
  id: "patch_before_install",
  version: 1,
  owner: "fraud team",
  meaning: "Range of the number of days from the security patch of the system to the last update of the app; Android",
  falseReadings: [
    "Many makers ship patches late, or no longer ship them",
    "An app that was not updated for long makes the number small",
    "A custom system may declare any date",
  ],
  purposes: ["payments"],
  inputs: {
    patch: field("device_identity.androidBuild.securityPatch"),
    updated: field("application.lastUpdateTimeMs"),
  },
  output: category(["newer", "under-90-days", "under-1-year", "over-1-year", "no-date"]),
  compute: ({ patch, updated }) =>
    whenObserved([patch, updated], (date, epochMs) => {
      const patched = dayNumber(date);
      if (patched === undefined) return "no-date";
      const days = dayOfEpochMs(epochMs) - patched;
      if (days < 0) return "newer";
      if (days < 90) return "under-90-days";
      return days < 365 ? "under-1-year" : "over-1-year";
    }),
  fixtures: "./patch-before-install.fixtures.json",
});
