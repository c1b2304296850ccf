/** Requests as the host client sends them, and as a hostile client does. */
import { type Agent, request as httpRequest } from "node:http";
import { connect } from "node:net";
import type { Credentials } from "./server.ts";

export const PATH = "/api/v1/device-signal-events";

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

export interface Post {
  readonly url: string;
  readonly method?: string;
  readonly path?: string;
  /** A repeated header has a list of values. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: string | Uint8Array;
  readonly agent?: Agent;
}

/** Sends one request. Header names are sent unchanged. */
export function send({ url, method = "POST", path = PATH, headers = {}, body, agent }: Post): Promise<Reply> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path, method, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve(reply(response.statusCode ?? 0, response.headers, Buffer.concat(chunks).toString())),
      );
    });
    request.on("error", reject);
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) request.setHeader(name, value);
    }
    request.end(body);
  });
}

function reply(status: number, raw: Readonly<Record<string, string | string[] | undefined>>, text: string): Reply {
  const headers = Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, String(value)]));
  const isJson = /json/.test(headers["content-type"] ?? "");
  return { status, headers, text, json: isJson ? (JSON.parse(text) as Record<string, unknown>) : {} };
}

/** Writes bytes to a new connection. Reads until the answer is complete, the server closes, or `waitMs` have passed. */
export function sendRaw(url: string, bytes: string | Uint8Array, waitMs = 3_000): Promise<Reply> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    const finish = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(parseReply(text));
    };
    const timer = setTimeout(finish, waitMs);
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      if (isComplete(text)) finish();
    });
    socket.on("close", finish);
    socket.on("error", (error) => (text === "" ? reject(error) : finish()));
  });
}

function isComplete(text: string): boolean {
  const head = text.indexOf("\r\n\r\n");
  const length = /content-length: (\d+)/i.exec(text)?.[1];
  return head !== -1 && length !== undefined && text.length >= head + 4 + Number(length);
}

function parseReply(text: string): Reply {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const [line = "", ...lines] = head.split("\r\n");
  const headers = Object.fromEntries(
    lines.map((header) => [
      header.slice(0, header.indexOf(":")).toLowerCase(),
      header.slice(header.indexOf(":") + 1).trim(),
    ]),
  );
  return reply(Number(line.split(" ")[1] ?? 0), headers, rest.join("\r\n\r\n"));
}

let keyCount = 0;

export const freshKey = (): string => `key-${process.pid}-${Date.now()}-${keyCount++}`;

export interface Transport {
  action_id: string;
  action_type: string;
  sdk_version: string;
  platform: string;
  app_version?: string;
  observations: Record<string, unknown>;
}

/** A small valid transport request. */
export function transport(who: Credentials, collectedAt = new Date()): Transport {
  return {
    action_id: who.actionId,
    action_type: who.actionType,
    sdk_version: "1.2.3",
    platform: "android",
    app_version: "7.1.0",
    observations: {
      session_id: who.sessionId,
      event_type: "device_intel_collection",
      schema_version: 1,
      collected_at: collectedAt.toISOString(),
      probes: {
        os_integrity: {
          status: "success",
          data: { isEmulator: false, isDebuggerAttached: false, developerModeEnabled: true, sensorCount: 23 },
        },
        geolocation: { status: "skipped", reason: "disabled" },
        gpu_benchmark: { status: "timeout" },
        fonts: { status: "error", error: "unreadable" },
      },
    },
  };
}

export function authorized(who: Credentials, key: string = freshKey()): Record<string, string> {
  return { Authorization: `Bearer ${who.token}`, "Idempotency-Key": key, "Content-Type": "application/json" };
}

/** The request of a stored event, with another value of a field in its body. */
export const withChange = <Request extends Omit<Post, "url">>({ request }: { readonly request: Request }): Request => ({
  ...request,
  body: String(request.body).replace('"sensorCount":23', '"sensorCount":24'),
});
