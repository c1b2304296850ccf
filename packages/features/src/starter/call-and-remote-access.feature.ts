import { feature, field, flag, whenObserved } from "@device-risk-signals/features";

export const callAndRemoteAccess = feature({
  id: "call_and_remote_access",
  version: 1,
  owner: "fraud team",
  meaning: "A call was going on while a remote access app was installed; Android",
  falseReadings: ["A person may have both for work", "Which app makes the call, and with whom, is not known"],
  purposes: ["payments"],
  inputs: {
    call: field("transaction_safety.isCallActive"),
    apps: field("transaction_safety.remoteAccessAppsFound"),
  },
  output: flag(),
  compute: ({ call, apps }) => whenObserved([call, apps], (active, found) => active && found.length > 0),
  fixtures: "./call-and-remote-access.fixtures.json",
});
