import { count, feature, field } from "@device-risk-signals/features";

export const remoteAccessApps = feature({
  id: "remote_access_apps",
  version: 1,
  owner: "fraud team",
  meaning: "How many remote access apps of the list are installed; Android",
  falseReadings: ["An installed app need not be in use", "Support staff and families use such apps for help"],
  purposes: ["payments"],
  inputs: {
    apps: field("transaction_safety.remoteAccessAppsFound"),
  },
  output: count({ bins: [0, 1, 2] }),
  compute: ({ apps }) => (apps.state === "observed" ? apps.value.length : null),
  fixtures: "./remote-access-apps.fixtures.json",
});
