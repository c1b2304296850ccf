/** The endpoint in a Fastify 5 backend, as a plugin. */
import { createEndpoint, optionsFromEnvironment } from "@device-risk-signals/server";
import { deviceRiskSignals } from "@device-risk-signals/server/fastify";
import Fastify from "fastify";
import { host } from "./host.ts";
import type { StartHost } from "./running-host.ts";

export const startFastify: StartHost = async (environment, port = 0) => {
  const endpoint = await createEndpoint({ ...optionsFromEnvironment(environment), ...host });
  const app = Fastify();

  // The plugin is registered without fastify-plugin, so that its handling of bodies applies only to its own route.
  app.register(deviceRiskSignals, { ingest: endpoint.ingest });
  app.addHook("onClose", () => endpoint.close());

  app.post("/orders", (request, reply) => reply.code(201).send(request.body));

  return { url: await app.listen({ port, host: "127.0.0.1" }), close: () => app.close() };
};
