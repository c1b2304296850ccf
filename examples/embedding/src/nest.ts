/** The endpoint in a NestJS 12 backend on its Express adapter. */
import { createEndpoint, type Endpoint, optionsFromEnvironment } from "@device-risk-signals/server";
import { nodeHandler } from "@device-risk-signals/server/node";
import type { DynamicModule, OnApplicationShutdown } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { host } from "./host.ts";
import type { StartHost } from "./running-host.ts";

/** Closes the endpoint after Nest has closed its HTTP server. */
class DeviceSignals implements OnApplicationShutdown {
  readonly endpoint: Endpoint;

  constructor(endpoint: Endpoint) {
    this.endpoint = endpoint;
  }

  onApplicationShutdown(): Promise<void> {
    return this.endpoint.close();
  }

  /** Returns the module that the host's module imports. A dynamic module needs no decorator. */
  static async register(environment: Parameters<StartHost>[0]): Promise<DynamicModule> {
    const signals = new DeviceSignals(await createEndpoint({ ...optionsFromEnvironment(environment), ...host }));
    return { module: DeviceSignals, providers: [{ provide: DeviceSignals, useValue: signals }] };
  }
}

export const startNest: StartHost = async (environment, port = 0) => {
  const app = await NestFactory.create(DeviceSignals.register(environment), { logger: ["error", "warn"] });
  app.enableShutdownHooks();

  // A route that is added before Nest listens runs before the body parsers of Nest, so the body is still unread.
  const { endpoint } = app.get(DeviceSignals);
  app.getHttpAdapter().all("/api/v1/device-signal-events", nodeHandler(endpoint.ingest));

  await app.listen(port, "127.0.0.1");
  return { url: await app.getUrl(), close: () => app.close() };
};
