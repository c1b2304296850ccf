import { feature, field, number } from "@device-risk-signals/features";

export const processorCount = feature({
  id: "processor_count",
  version: 1,
  owner: "fraud team",
  meaning: "Number of logical processors",
  falseReadings: ["Emulators can show any number", "Phones switch processors off to save power on some old systems"],
  purposes: ["payments"],
  inputs: {
    processors: field("hardware.processorCount"),
  },
  output: number({ unit: "count", bins: [0, 2, 4, 6, 8] }),
  compute: ({ processors }) => (processors.state === "observed" ? Math.trunc(processors.value) + 0 : null),
  fixtures: "./processor-count.fixtures.json",
});
