import server from "@device-risk-signals/server/package.json" with { type: "json" };

/** The version of this package. */
export const VERSION = server.version;
