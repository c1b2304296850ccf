/** A proxy between client and server that causes chosen network errors, request by request. */
import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";

export type NetworkError =
  /** The connection ends after the proxy has read the request. The server never receives it. */
  | "cut before the server"
  /** The server receives half of the body, and then the connection ends. */
  | "cut within the request"
  /** The server has committed and answered, but its answer is lost. */
  | "cut after the commit"
  /** The answer ends in the middle of its body. */
  | "cut within the answer"
  /** The proxy forwards nothing and answers nothing. */
  | "silence"
  /** The server's answer reaches the client after the client has stopped waiting. */
  | "slow"
  | "429"
  | "503 with Retry-After"
  | "captive portal"
  | "redirect";

export const NETWORK_ERRORS: readonly NetworkError[] = [
  "cut before the server",
  "cut within the request",
  "cut after the commit",
  "cut within the answer",
  "silence",
  "slow",
  "429",
  "503 with Retry-After",
  "captive portal",
  "redirect",
];

export interface Seen {
  readonly error: NetworkError | undefined;
  readonly key: string;
  readonly body: string;
}

export interface FaultyProxy {
  readonly url: string;
  /** Every request that arrived, in order. */
  readonly seen: readonly Seen[];
  /** Sets one error for each of the next requests with this idempotency key. The proxy forwards all other requests. */
  plan(key: string, errors: readonly NetworkError[]): void;
  close(): Promise<void>;
}

export interface ProxyOptions {
  /**
   * Returns the address to which requests are forwarded. It is called for each request, because a server may restart at
   * another address.
   */
  readonly target: () => string;
  /** Milliseconds by which `slow` delays an answer. */
  readonly slowMs: number;
}

const PROBLEM = '{"type":"urn:problem:device-risk-signals:overloaded","title":"","status":0,"detail":"","errors":[]}';

export async function startFaultyProxy({ target, slowMs }: ProxyOptions): Promise<FaultyProxy> {
  const seen: Seen[] = [];
  const plans = new Map<string, NetworkError[]>();

  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const key = String(request.headers["idempotency-key"]);
    const error = plans.get(key)?.shift();
    seen.push({ error, key, body: body.toString() });
    const pass = (): Promise<Passed> => forward(target(), request, body);
    switch (error) {
      case "cut before the server":
        response.destroy();
        return;
      case "cut within the request":
        await forwardHalf(target(), request, body);
        response.destroy();
        return;
      case "cut after the commit":
        await pass();
        response.destroy();
        return;
      case "cut within the answer": {
        const { status, headers, text } = await pass();
        response.writeHead(status, headers);
        response.write(text.subarray(0, text.length / 2), () => response.destroy());
        return;
      }
      case "silence":
        return;
      case "slow": {
        const passed = await pass();
        setTimeout(() => reply(response, passed), slowMs);
        return;
      }
      case "429":
        reply(response, { status: 429, headers: {}, text: Buffer.from(PROBLEM) });
        return;
      case "503 with Retry-After":
        reply(response, { status: 503, headers: { "Retry-After": "1" }, text: Buffer.from(PROBLEM) });
        return;
      case "captive portal":
        reply(response, { status: 200, headers: { "Content-Type": "text/html" }, text: Buffer.from("<html>Welcome") });
        return;
      case "redirect":
        reply(response, { status: 307, headers: { Location: "/elsewhere" }, text: Buffer.from("") });
        return;
      case undefined:
        reply(response, await pass());
    }
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    plan: (key, errors) => void plans.set(key, [...errors]),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Passed {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: Buffer;
}

function reply(response: ServerResponse, { status, headers, text }: Passed): void {
  response.writeHead(status, headers);
  response.end(text);
}

function forward(target: string, { method, url, headers }: IncomingMessage, body: Buffer): Promise<Passed> {
  return new Promise((resolve, reject) => {
    const onward = httpRequest(new URL(url ?? "/", target), { method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("error", reject);
      answer.on("end", () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(chunks) }),
      );
    });
    onward.on("error", reject);
    onward.end(body);
  });
}

function forwardHalf(target: string, { method, url, headers }: IncomingMessage, body: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const onward = httpRequest(new URL(url ?? "/", target), { method, headers });
    onward.on("error", () => resolve());
    onward.on("close", () => resolve());
    onward.write(body.subarray(0, body.length / 2), () => onward.destroy());
  });
}
