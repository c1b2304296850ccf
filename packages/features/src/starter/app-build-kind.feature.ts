import { category, feature, field } from "@device-risk-signals/features";

export const appBuildKind = feature({
  id: "app_build_kind",
  version: 1,
  owner: "fraud team",
  meaning: "Whether the installed app is a build for debugging, for a simulator, or neither",
  falseReadings: ["Testers in your company install builds for debugging"],
  purposes: ["payments"],
  inputs: {
    debuggable: field("application.isDebuggable"),
    simulator: field("application.isSimulatorBuild"),
  },
  output: category(["simulator", "debug", "release"]),
  compute: ({ debuggable, simulator }) => {
    if (simulator.state === "observed" && simulator.value) return "simulator";
    if (debuggable.state !== "observed") return null;
    return debuggable.value ? "debug" : "release";
  },
  fixtures: "./app-build-kind.fixtures.json",
});
