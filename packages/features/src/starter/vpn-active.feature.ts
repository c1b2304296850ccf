import { feature, field, flag } from "@device-risk-signals/features";

export const vpnActive = feature({
  id: "vpn_active",
  version: 1,
  owner: "fraud team",
  meaning: "A VPN was active",
  falseReadings: [
    "Companies and careful people use a VPN all the time",
    "Filters of advertisements and the private relay of a browser may show as a VPN",
  ],
  purposes: ["payments"],
  inputs: {
    vpn: field("network.isVpnActive"),
  },
  output: flag(),
  compute: ({ vpn }) => (vpn.state === "observed" ? vpn.value : null),
  fixtures: "./vpn-active.fixtures.json",
});
