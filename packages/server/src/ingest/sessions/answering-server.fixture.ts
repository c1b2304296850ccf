/** A real HTTP server on loopback that answers as a test specifies, and records its requests. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedRequest {
  readonly method: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export type Reply = (response: ServerResponse, asked: ReceivedRequest) => void;

export interface AnsweringServer {
  readonly url: string;
  /** Received requests, oldest first. */
  readonly asked: ReceivedRequest[];
  answer(reply: Reply): void;
  /** Ends every connection, also connections that wait for an answer. */
  hangUpOnAll(): void;
  close(): Promise<void>;
}

export const json =
  (value: unknown, status = 200): Reply =>
  (response) =>
    plain(JSON.stringify(value), status, "application/json")(response, { method: "", headers: {}, body: "" });

export const plain =
  (body: string, status = 200, type = "text/plain"): Reply =>
  (response) => {
    response.writeHead(status, { "Content-Type": type, Connection: "close" });
    response.end(body);
  };

/** Receives the request and never answers. */
export const silence: Reply = () => {};

/** Receives the request and closes the connection. */
export const hangUp: Reply = (response) => {
  response.destroy();
};

export async function startAnsweringServer(): Promise<AnsweringServer> {
  let reply: Reply = plain("nothing was set up", 500);
  const asked: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const one = { method: request.method ?? "", headers: request.headers, body };
      asked.push(one);
      reply(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/asked`,
    asked,
    answer(next) {
      reply = next;
    },
    hangUpOnAll: () => server.closeAllConnections(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A URL at which nothing listens. */
export async function deadUrl(): Promise<string> {
  const server = await startAnsweringServer();
  await server.close();
  return server.url;
}
