import { category, feature, field } from "@device-risk-signals/features";

const LOCAL = /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/;

export const proxyKind = feature({
  id: "proxy_kind",
  version: 1,
  owner: "fraud team",
  meaning: "Whether a proxy was configured, and whether it is on the device itself",
  falseReadings: ["Company networks configure proxies", "Filters of advertisements run as a proxy on the device"],
  purposes: ["payments"],
  inputs: {
    configured: field("network.isProxyConfigured"),
    host: field("network.proxyHost"),
  },
  output: category(["none", "local", "remote", "unnamed"]),
  compute: ({ configured, host }) => {
    if (configured.state !== "observed") return null;
    if (!configured.value) return "none";
    if (host.state === "observed") return LOCAL.test(host.value) ? "local" : "remote";
    // An event has no host of a proxy that an automatic configuration chooses.
    return host.state === "omitted" ? "unnamed" : null;
  },
  fixtures: "./proxy-kind.fixtures.json",
});
