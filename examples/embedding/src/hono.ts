/** The endpoint in a Hono backend on Node. */
import type { Server } from "node:http";
import { createEndpoint, optionsFromEnvironment } from "@device-risk-signals/server";
import { webHandler } from "@device-risk-signals/server/web";
import { serve } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { Hono } from "hono";
import { host } from "./host.ts";
import { runningHost, type StartHost } from "./running-host.ts";

export const startHono: StartHost = async (environment, port = 0) => {
  const endpoint = await createEndpoint({ ...optionsFromEnvironment(environment), ...host });
  const app = new Hono();

  app.all("/api/v1/device-signal-events", (context) => {
    // The client's address, which only Hono knows. The endpoint throttles failed authentications by address.
    const peerOf = (): string => getConnInfo(context).remote.address ?? "unknown";
    return webHandler(endpoint.ingest, { peerOf })(context.req.raw);
  });

  app.post("/orders", async (context) => context.json(await context.req.json(), 201));

  return runningHost(serve({ fetch: app.fetch, port, hostname: "127.0.0.1" }) as Server, endpoint);
};
