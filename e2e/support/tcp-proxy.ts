/** A proxy that causes network errors. It accepts TCP connections, and connects to a server by TCP or a Unix socket. */
import { createConnection, createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

export type Trouble =
  /** Established connections stay open and forward nothing more. New connections are accepted and forward nothing. */
  | "silent"
  /** Established connections stay open and forward nothing more. New connections work. */
  | "silent on established connections"
  /** Established and new connections are reset. */
  | "reset"
  /** Answers come 30 seconds late. */
  | "delayed";

export interface TcpProxy {
  readonly port: number;
  fail(trouble: Trouble): void;
  /** Makes new connections work. Connections that have become silent stay silent. */
  heal(): void;
  close(): Promise<void>;
}

const DELAY_MS = 30_000;

/** @param target the destination of the connections: the path of a Unix socket, or a port of this host */
export async function startTcpProxy(target: string | number): Promise<TcpProxy> {
  let trouble: Trouble | undefined;
  const pairs = new Set<{ readonly client: Socket; readonly server: Socket; isSilent: boolean }>();
  const timers = new Set<NodeJS.Timeout>();

  const proxy = createServer((client) => {
    client.on("error", () => {});
    if (trouble === "reset") return void client.resetAndDestroy();
    const server = typeof target === "string" ? createConnection(target) : createConnection(target, "127.0.0.1");
    server.on("error", () => client.destroy());
    const pair = { client, server, isSilent: trouble === "silent" };
    pairs.add(pair);
    client.on("data", (chunk) => {
      if (!pair.isSilent) server.write(chunk);
    });
    server.on("data", (chunk) => {
      if (pair.isSilent) return;
      if (trouble !== "delayed") return void client.write(chunk);
      timers.add(setTimeout(() => client.write(chunk), DELAY_MS));
    });
    // Neither side learns that the other has closed a silent connection.
    client.on("close", () => {
      if (!pair.isSilent) server.destroy();
    });
    server.on("close", () => {
      if (!pair.isSilent) client.destroy();
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));

  return {
    port: (proxy.address() as AddressInfo).port,
    fail(next) {
      trouble = next === "silent on established connections" ? undefined : next;
      for (const pair of pairs) {
        if (next === "reset") pair.client.resetAndDestroy();
        else if (next !== "delayed") pair.isSilent = true;
      }
    },
    heal() {
      trouble = undefined;
    },
    async close() {
      for (const timer of timers) clearTimeout(timer);
      for (const { client, server } of pairs) {
        client.destroy();
        server.destroy();
      }
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
