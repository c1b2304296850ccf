import { type ClientRequest, request as httpRequest } from "node:http";
import { authorized, freshKey, PATH, type Reply, transport } from "./client.ts";
import type { Credentials, ServerProcess } from "./server.ts";

/** A request that sends the first bytes of its body, and the others when the test calls `finish`. */
export class SlowRequest {
  readonly reply: Promise<Reply>;
  readonly #request: ClientRequest;
  readonly #body: string;

  constructor(
    server: ServerProcess,
    who: Credentials,
    { key = freshKey(), body = JSON.stringify(transport(who)) } = {},
  ) {
    const { hostname, port } = new URL(server.url);
    this.#body = body;
    this.#request = httpRequest({ hostname, port, path: PATH, method: "POST", agent: false });
    for (const [name, value] of Object.entries(authorized(who, key))) this.#request.setHeader(name, value);
    this.#request.setHeader("Content-Length", Buffer.byteLength(body));
    this.reply = new Promise((resolve, reject) => {
      this.#request.on("error", reject);
      this.#request.on("response", (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => {
          const headers = response.headers as Record<string, string>;
          resolve({ status: response.statusCode ?? 0, headers, text, json: JSON.parse(text) as Reply["json"] });
        });
      });
    });
    this.reply.catch(() => {});
    this.#request.write(body.slice(0, 20));
  }

  finish(): Promise<Reply> {
    this.#request.end(this.#body.slice(20));
    return this.reply;
  }

  hangUp(): void {
    this.#request.destroy();
  }
}
