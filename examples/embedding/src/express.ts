/** The endpoint in an Express 5 backend. */
import { createEndpoint, optionsFromEnvironment } from "@device-risk-signals/server";
import { nodeHandler } from "@device-risk-signals/server/node";
import express from "express";
import { host } from "./host.ts";
import { runningHost, type StartHost } from "./running-host.ts";

export const startExpress: StartHost = async (environment, port = 0) => {
  const endpoint = await createEndpoint({ ...optionsFromEnvironment(environment), ...host });
  const app = express();

  // This route is registered before express.json(), because the endpoint reads the body itself to keep the exact bytes
  // of the event.
  app.all("/api/v1/device-signal-events", nodeHandler(endpoint.ingest));

  app.use(express.json());
  app.post("/orders", (request, response) => void response.status(201).json(request.body));

  return runningHost(app.listen(port, "127.0.0.1"), endpoint);
};
