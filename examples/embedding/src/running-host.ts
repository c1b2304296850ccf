/** The interface that every example implements, and its implementation for a `node:http` server. */
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Endpoint } from "@device-risk-signals/server";

export interface RunningHost {
  readonly url: string;
  /** Stops accepting connections, sends the remaining answers, then closes the endpoint. */
  readonly close: () => Promise<void>;
}

/** Starts a host on loopback; port 0 lets the system choose. */
export type StartHost = (
  environment: Readonly<Record<string, string | undefined>>,
  port?: number,
) => Promise<RunningHost>;

export async function runningHost(server: Server, endpoint: Endpoint): Promise<RunningHost> {
  if (!server.listening) await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, "close");
      server.close();
      await closed;
      await endpoint.close();
    },
  };
}
