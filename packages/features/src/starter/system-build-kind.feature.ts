import { category, feature, field, whenObserved } from "@device-risk-signals/features";

export const systemBuildKind = feature({
  id: "system_build_kind",
  version: 2,
  owner: "fraud team",
  meaning: "Whether the system was built for users and signed with release keys; Android",
  falseReadings: [
    "Custom systems, and phones of developers, are built otherwise",
    "Root can rewrite tags and type of the build",
  ],
  purposes: ["payments"],
  inputs: {
    tags: field("device_identity.androidBuild.tags"),
    kind: field("device_identity.androidBuild.buildType"),
  },
  output: category(["release", "test-keys", "debug-build", "other"]),
  compute: ({ tags, kind }) =>
    whenObserved([tags, kind], (list, type) => {
      if (type === "userdebug" || type === "eng") return "debug-build";
      const names = `,${list},`;
      if (names.includes(",test-keys,") || names.includes(",dev-keys,")) return "test-keys";
      return names.includes(",release-keys,") && type === "user" ? "release" : "other";
    }),
  fixtures: "./system-build-kind.fixtures.json",
});
