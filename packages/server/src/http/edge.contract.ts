/** Tests that the edge for every framework must pass. They send real HTTP requests to a core that records them. */
import { randomBytes } from "node:crypto";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { send } from "../../../../e2e/support/client.ts";
import { readHeaders } from "../ingest/headers.ts";
import type { Ingest } from "../ingest/ingest.ts";
import { readBody } from "../ingest/read-body.ts";
import { type Answer, answerRejection, EVENTS_PATH, RejectedRequest, rejectRequest } from "../ingest/request.ts";

export interface Edge {
  readonly url: string;
  close(): Promise<void>;
}

export interface EdgeOptions {
  /** Whether the edge keeps header lines apart; the Fetch standard joins them. */
  readonly keepsLines: boolean;
  /**
   * Whether the edge takes the source address from the connection or, with one proxy in front, from `X-Forwarded-For`.
   */
  readonly knowsPeer: boolean;
  /** Whether the core may free the memory of a body. Listeners of an embedding host may read it, too. */
  readonly isUnshared: boolean;
}

/** A request that the core received. */
interface RecordedRequest {
  method: string;
  peer: string;
  authorization: readonly string[];
  keys: readonly string[];
  body: Buffer | undefined;
  isUnshared: boolean;
}

const LIMIT = 262_144;
const ANSWER: Answer = {
  status: 201,
  headers: { "Content-Type": "application/json", RateLimit: '"account";r=1;t=1', "X-Odd": "a, b;c" },
  body: '{"event_id":"é\u{1F600}"}',
};

export function describeEdge(
  name: string,
  start: (ingest: Ingest, proxyHops: number) => Promise<Edge>,
  { keepsLines, knowsPeer, isUnshared }: EdgeOptions,
): void {
  describe(`the edge: ${name}`, () => {
    let edge: Edge;
    let noted: RecordedRequest[];
    /** Whether the core reads the body. If not, it rejects the request at once. */
    let readsBody: boolean;

    const core: Ingest = async ({ method, peer, headers, body }) => {
      const note: RecordedRequest = {
        method,
        peer,
        authorization: headers.all("authorization"),
        keys: headers.all("idempotency-key"),
        body: undefined,
        isUnshared: body.isUnshared ?? false,
      };
      noted.push(note);
      if (!readsBody) return answerRejection(rejectRequest("credentials-missing", { "WWW-Authenticate": "Bearer" }));
      const read = readHeaders(headers);
      if (read instanceof RejectedRequest) return answerRejection(read);
      // The bytes as they were sent: the edge must not decompress them.
      const bytes = await readBody(
        body,
        { encoding: "identity", length: read.length },
        { maxBodyBytes: LIMIT, bodyTimeout: 30_000 },
      );
      if (bytes instanceof RejectedRequest) return answerRejection(bytes);
      note.body = bytes;
      return ANSWER;
    };

    beforeAll(async () => {
      edge = await start(core, 0);
    });

    afterAll(() => edge?.close());

    beforeEach(() => {
      noted = [];
      readsBody = true;
    });

    const post = (body: string | Uint8Array, headers: Record<string, string | readonly string[]> = {}) =>
      send({ url: edge.url, headers: { "Idempotency-Key": "key-1", ...headers }, body });

    describe("the body of a request", () => {
      const bodies: readonly (readonly [string, Buffer])[] = [
        ["JSON, white space and all", Buffer.from('\n{ "a" : 1.0e2, "a": "\\u00e9" }\r\n')],
        ["of every byte", Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
        ["no JSON at all", Buffer.from("not json")],
        ["invalid UTF-8", Buffer.from([0x22, 0xff, 0xfe, 0x22])],
        ["with a byte order mark", Buffer.from("\ufeff{}")],
        ["empty", Buffer.alloc(0)],
        ["of 256 KiB of noise", randomBytes(LIMIT)],
      ];
      it.each(bodies)("reaches the core unchanged: %s", async (_, bytes) => {
        expect((await post(bytes, { "Content-Type": "application/json" })).status).toBe(201);
        expect(noted[0]?.body?.equals(bytes)).toBe(true);
      });

      it(`${isUnshared ? "may" : "may not"} be freed by the core, with \`Expect: 100-continue\` or without`, async () => {
        await post("{}");
        await post("{}", { Expect: "100-continue" });
        expect(noted.map((one) => one.isUnshared)).toEqual([isUnshared, isUnshared]);
      });

      it("reaches the core still compressed", async () => {
        const packed = gzipSync('{"a":1}');
        const answer = await post(packed, { "Content-Encoding": "gzip", "Content-Type": "application/json" });
        expect(answer.status).toBe(201);
        expect(noted[0]?.body?.equals(packed)).toBe(true);
      });

      it("of any media type is passed to the core, which rejects what is not JSON", async () => {
        for (const type of ["application/json; charset=utf-8", "application/json; profile=x"]) {
          expect((await post("{", { "Content-Type": type })).status).toBe(201);
        }
        const others = ["text/plain", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data"];
        const malformed = ["json", "/", "application/", ";charset=utf-8", "a b/c", "application/json application/json"];
        for (const type of [...others, ...malformed]) {
          const answer = await post("a=1", { "Content-Type": type });
          expect([answer.status, answer.json["type"]], type).toEqual([
            415,
            "urn:problem:device-risk-signals:media-type-unsupported",
          ]);
        }
        expect((await post("{")).status, "no type at all").toBe(201);
      });

      it("reaches the core when it is sent in chunks", async () => {
        const { hostname, port } = new URL(edge.url);
        const headers = { "Idempotency-Key": "key-1", "Transfer-Encoding": "chunked" };
        const status = await new Promise<number>((resolve, reject) => {
          const request = httpRequest({ hostname, port, path: EVENTS_PATH, method: "POST", headers }, (response) => {
            response.resume();
            resolve(response.statusCode ?? 0);
          });
          request.on("error", reject);
          request.write('{"a');
          setTimeout(() => request.end('": 1}'), 20);
        });
        expect(status).toBe(201);
        expect(noted[0]?.body?.toString()).toBe('{"a": 1}');
      });

      it("is rejected if it exceeds the limit, and the answer reaches the client", async () => {
        expect((await post(randomBytes(LIMIT + 1))).json).toMatchObject({
          type: "urn:problem:device-risk-signals:body-too-large",
        });
      });

      it("is dropped when its client disconnects midway, and the edge continues", async () => {
        const { hostname, port } = new URL(edge.url);
        const head = `POST ${EVENTS_PATH} HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nContent-Length: 1000\r\n\r\n{"a"`;
        const socket = connect(Number(port), hostname, () => socket.write(head));
        await expect.poll(() => noted.length).toBe(1);
        socket.destroy();
        expect((await post("{}")).status).toBe(201);
        expect(noted[0]?.body).toBeUndefined();
      });

      it("need not be read before the answer, even if the client is still sending it", async () => {
        readsBody = false;
        const answer = await new Promise<number>((resolve, reject) => {
          const { hostname, port } = new URL(edge.url);
          const request = httpRequest(
            { hostname, port, path: EVENTS_PATH, method: "POST", headers: { "Content-Length": LIMIT } },
            (response) => {
              response.resume();
              resolve(response.statusCode ?? 0);
              request.destroy();
            },
          );
          request.on("error", reject);
          request.write("{");
        });
        expect(answer).toBe(401);
        expect((await post("{}")).status).toBe(401);
      });
    });

    describe("the headers of a request", () => {
      it("with two Idempotency-Key lines are rejected, even if their values are equal", async () => {
        const twice = [
          ["a", "b"],
          ["a", "a"],
          ["", "a"],
        ];
        // A joined header has no trace of an empty value at its end except a comma.
        if (keepsLines) twice.push(["a", ""]);
        for (const keys of twice) {
          const answer = await post("{}", { "Idempotency-Key": keys });
          expect([answer.status, answer.json["type"]], JSON.stringify(keys)).toEqual([
            400,
            "urn:problem:device-risk-signals:idempotency-key-invalid",
          ]);
        }
        expect(noted.every(({ body }) => body === undefined)).toBe(true);
      });

      it("with two Authorization lines reach the core as two values, or as one that is no token", async () => {
        await post("{}", { Authorization: ["Bearer a", "Bearer b"] });
        expect(noted[0]?.authorization).toEqual(keepsLines ? ["Bearer a", "Bearer b"] : ["Bearer a, Bearer b"]);
      });

      it("reach the core unchanged, with any case of their names", async () => {
        await post("{}", { "IDEMPOTENCY-key": "KeY~!", authorization: "Bearer a.b-c" });
        expect(noted[0]).toMatchObject({ keys: ["KeY~!"], authorization: ["Bearer a.b-c"] });
      });

      it("that are absent have no values", async () => {
        await send({ url: edge.url, body: "{}" });
        expect(noted[0]).toMatchObject({ keys: [], authorization: [] });
      });
    });

    describe("the answer of the core", () => {
      it("is sent unchanged", async () => {
        const answer = await post("{}");
        expect(answer).toMatchObject({ status: 201, text: ANSWER.body });
        expect(answer.headers).toMatchObject({
          "content-type": "application/json",
          ratelimit: '"account";r=1;t=1',
          "x-odd": "a, b;c",
        });
      });

      it("is sent unchanged if it is a rejection", async () => {
        readsBody = false;
        const answer = await post("{}");
        expect(answer.headers).toMatchObject({
          "content-type": "application/problem+json",
          "www-authenticate": "Bearer",
        });
        expect(answer.json).toMatchObject({ status: 401, type: "urn:problem:device-risk-signals:credentials-missing" });
      });
    });

    it.each(["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])("hands %s to the core", async (method) => {
      readsBody = false;
      expect((await fetch(edge.url + EVENTS_PATH, { method })).status).toBe(401);
      expect(noted).toMatchObject([{ method }]);
    });

    it("serves many requests at once without mixing them", async () => {
      const bodies = Array.from({ length: 60 }, (_, index) => `{"n":${index}}`);
      const answers = await Promise.all(bodies.map((body, index) => post(body, { "Idempotency-Key": `key-${index}` })));
      expect(answers.every(({ status }) => status === 201)).toBe(true);
      for (const { keys, body } of noted) expect(`{"n":${keys[0]?.slice(4)}}`).toBe(body?.toString());
    });

    if (!knowsPeer) return;

    it("takes the source address from the connection, or from the configured number of proxies", async () => {
      const forwarded = { "X-Forwarded-For": "203.0.113.9, 198.51.100.7" };
      await post("{}", forwarded);
      expect(noted.at(-1)?.peer, "with no proxy, the header is what a client says").toMatch(/^(::ffff:)?127\.0\.0\.1$/);
      const behind = await start(core, 1);
      await send({ url: behind.url, headers: forwarded, body: "{}" });
      expect(noted.at(-1)?.peer).toBe("198.51.100.7");
      await send({ url: behind.url, body: "{}" });
      expect(noted.at(-1)?.peer).toMatch(/127\.0\.0\.1$/);
      await behind.close();
    });
  });
}
