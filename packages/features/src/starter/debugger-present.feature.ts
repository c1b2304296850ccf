import { anyTrue, feature, field, flag } from "@device-risk-signals/features";

export const debuggerPresent = feature({
  id: "debugger_present",
  version: 1,
  owner: "fraud team",
  meaning: "A debugger or another process traces the app now",
  falseReadings: [
    "Builds for development run under a debugger",
    "Some tools for crash reports trace the process for a moment",
  ],
  purposes: ["payments"],
  inputs: {
    debugger: field("os_integrity.isDebuggerAttached"),
    tracer: field("os_integrity.tracedByOtherProcess"),
  },
  output: flag(),
  compute: ({ debugger: attached, tracer }) => {
    // On iOS the SDK looks only for an attached debugger.
    if (tracer.state === "omitted" && tracer.why === "field-absent")
      return attached.state === "observed" ? attached.value : null;
    return anyTrue({ attached, tracer });
  },
  fixtures: "./debugger-present.fixtures.json",
});
