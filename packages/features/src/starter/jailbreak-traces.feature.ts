import { count, countTrue, feature, field } from "@device-risk-signals/features";

export const jailbreakTraces = feature({
  id: "jailbreak_traces",
  version: 1,
  owner: "fraud team",
  meaning: "How many kinds of traces that only a jailbreak leaves were seen, of the kinds that were looked for; iOS",
  falseReadings: [
    'A jailbreak that hides from the app leaves no trace: 0 is not "not jailbroken"',
    "A scheme counts only together with another trace, because any app may claim a scheme",
  ],
  purposes: ["payments"],
  inputs: {
    scheme: field("os_integrity.canOpenJailbreakScheme"),
    links: field("os_integrity.symbolicLinksSuspicious"),
    bypass: field("os_integrity.jailbreakBypassDetected"),
  },
  output: count({ bins: [0, 1, 2] }),
  compute: (inputs) => countTrue(inputs),
  fixtures: "./jailbreak-traces.fixtures.json",
});
