import { count, countTrue, feature, field } from "@device-risk-signals/features";

export const rootTraces = feature({
  id: "root_traces",
  version: 1,
  owner: "fraud team",
  meaning: "How many kinds of traces of root or of a jailbreak were seen, of the kinds that were looked for",
  falseReadings: [
    "A device farm or a developer's phone is rooted on purpose",
    'Root that hides from the app leaves no trace: 0 is not "not rooted"',
    "iOS has four of the kinds: compare devices of one platform",
  ],
  purposes: ["payments"],
  inputs: {
    su: field("os_integrity.suBinaryFound"),
    suOnPath: field("os_integrity.suOnPath"),
    manager: field("os_integrity.rootManagementAppFound"),
    paths: field("os_integrity.suspiciousFilePathsFound"),
    writable: field("os_integrity.writableSystemPathFound"),
    mounts: field("os_integrity.suspiciousMountsFound"),
    magiskMounts: field("os_integrity.magiskMountsFound"),
    magicMount: field("os_integrity.magicMountModulesFound"),
    properties: field("os_integrity.dangerousPropsPresent"),
  },
  output: count({ bins: [0, 1, 2, 4] }),
  compute: (inputs) => countTrue(inputs),
  fixtures: "./root-traces.fixtures.json",
});
