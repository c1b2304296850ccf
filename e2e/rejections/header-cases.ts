/** Cases of rows 1 to 7: method, credentials, headers, and the encoding and size of the body. */
import { gzipSync } from "node:zlib";
import { send } from "../support/client.ts";
import type { Case, Scene } from "./case.ts";

const LIMIT = 262_144;

const method = (name: string): Case => ({
  row: 1,
  name: `${name} is not allowed`,
  expected: { status: 405, problem: "method-not-allowed", headers: { allow: "POST" } },
  send: (scene) => send({ url: scene.url, method: name, headers: scene.headers }),
});

const invalidToken = { "www-authenticate": 'Bearer error="invalid_token"' };

const authorization = (name: string, value: (scene: Scene) => string | string[]): Case => ({
  row: 2,
  name,
  expected: { status: 401, problem: "credentials-invalid", headers: invalidToken },
  send: (scene) => scene.post(JSON.stringify(scene.good()), { Authorization: value(scene) }),
});

const key = (name: string, value: string | string[] | undefined, missing = false): Case => ({
  row: 4,
  name,
  expected: { status: 400, problem: missing ? "idempotency-key-missing" : "idempotency-key-invalid" },
  send: (scene) => scene.post(JSON.stringify(scene.good()), { "Idempotency-Key": value }),
});

const mediaType = (value: string): Case => ({
  row: 5,
  name: `Content-Type ${value}`,
  expected: { status: 415, problem: "media-type-unsupported" },
  send: (scene) => scene.post(JSON.stringify(scene.good()), { "Content-Type": value }),
});

const encoding = (value: string): Case => ({
  row: 6,
  name: `Content-Encoding ${value}`,
  expected: { status: 415, problem: "encoding-unsupported" },
  send: (scene) => scene.post(JSON.stringify(scene.good()), { "Content-Encoding": value }),
});

const corrupt = (name: string, bytes: (good: Buffer) => Uint8Array): Case => ({
  row: 6,
  name,
  expected: { status: 400, problem: "body-corrupt" },
  send: (scene) => {
    const good = Buffer.from(JSON.stringify(scene.good()));
    return scene.post(bytes(good), { "Content-Encoding": "gzip" });
  },
});

/** Extends the valid request to exactly this many bytes. */
function sized(scene: Scene, bytes: number): Buffer {
  const request = scene.good();
  const probes = request.observations["probes"] as Record<string, unknown>;
  probes["filler"] = { status: "success", data: { text: "" } };
  const room = bytes - Buffer.byteLength(JSON.stringify(request));
  probes["filler"] = { status: "success", data: { text: "x".repeat(room) } };
  return Buffer.from(JSON.stringify(request));
}

export const HEADER_CASES: readonly Case[] = [
  ...["GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"].filter((name) => name !== "HEAD").map(method),

  {
    row: 2,
    name: "no Authorization",
    expected: { status: 401, problem: "credentials-missing", headers: { "www-authenticate": "Bearer" } },
    send: (scene) => scene.post(JSON.stringify(scene.good()), { Authorization: undefined }),
  },
  authorization("an unknown token", () => `Bearer drs_${"A".repeat(43)}`),
  authorization("a token of another form", () => "Bearer not-a-token"),
  authorization("an expired token", ({ parties }) => `Bearer ${parties.expiredToken}`),
  authorization("a revoked token", ({ parties }) => `Bearer ${parties.revokedToken}`),
  authorization("another scheme", ({ parties }) => `Basic ${parties.good.token}`),
  authorization("a scheme alone", () => "Bearer"),
  authorization("a token with something behind it", ({ parties }) => `Bearer ${parties.good.token} x`),
  authorization("a token of 9,000 characters", () => `Bearer ${"a".repeat(9_000)}`),
  authorization("two Authorization headers", ({ parties }) => [
    `Bearer ${parties.good.token}`,
    `Bearer ${parties.good.token}`,
  ]),
  {
    row: 2,
    name: "bad credentials come before a bad body",
    expected: { status: 401, problem: "credentials-invalid" },
    send: (scene) =>
      scene.post("{", { Authorization: "Bearer unknown", "Idempotency-Key": "", "Content-Type": "text/plain" }),
  },
  {
    row: 2,
    name: "Expect: 100-continue gets its 401 before the body is invited",
    expected: { status: 401, problem: "credentials-invalid" },
    send: (scene) =>
      scene.raw(["Authorization: Bearer unknown", "Idempotency-Key: k", "Expect: 100-continue", "Content-Length: 500"]),
  },

  key("no Idempotency-Key", undefined, true),
  key("an empty Idempotency-Key", "", true),
  key("an Idempotency-Key of 129 characters", "k".repeat(129)),
  key("an Idempotency-Key with a space", "a b"),
  key("an Idempotency-Key beyond ASCII", "sch\u00fcssel"),
  key("an Idempotency-Key with a tab", "a\tb"),
  key("two Idempotency-Key headers", ["one", "two"]),
  key("the same Idempotency-Key twice", ["one", "one"]),

  ...[
    "text/plain",
    "application/json; charset=utf-16",
    "application/x-www-form-urlencoded",
    "application/jsonp",
    "application/json; charset=latin1; charset=utf-8",
    "json",
  ].map(mediaType),
  ...["deflate", "br", "zstd", "gzip, gzip", "identity, br"].map(encoding),
  {
    row: 6,
    name: "Content-Encoding comes before the body",
    expected: { status: 415, problem: "encoding-unsupported" },
    send: (scene) => scene.post("not json", { "Content-Encoding": "br" }),
  },
  {
    row: 6,
    name: "Transfer-Encoding: gzip, chunked",
    expected: { status: 415, problem: "encoding-unsupported" },
    send: (scene) => scene.raw([...scene.rawHeaders(), "Transfer-Encoding: gzip, chunked"], "0\r\n\r\n"),
  },
  corrupt("a body that is no gzip data", (good) => good),
  corrupt("gzip cut short", (good) => gzipSync(good).subarray(0, -10)),
  corrupt("gzip with a wrong checksum", (good) => {
    const bytes = gzipSync(good);
    bytes[bytes.length - 6] = (bytes[bytes.length - 6] as number) ^ 1;
    return bytes;
  }),
  corrupt("gzip with bytes behind it", (good) => Buffer.concat([gzipSync(good), Buffer.from("more")])),
  corrupt("gzip with zeros behind it", (good) => Buffer.concat([gzipSync(good), Buffer.alloc(3)])),

  {
    row: 7,
    name: `${LIMIT + 1} bytes`,
    expected: { status: 400, problem: "body-too-large" },
    send: (scene) => scene.post(sized(scene, LIMIT + 1)),
  },
  {
    row: 7,
    name: "10 MiB, chunked",
    expected: { status: 400, problem: "body-too-large" },
    send: (scene) => scene.post(Buffer.alloc(10 * 1024 * 1024, 0x20), { "Transfer-Encoding": "chunked" }),
  },
  {
    row: 7,
    name: `${LIMIT + 1} bytes, compressed`,
    expected: { status: 400, problem: "body-too-large" },
    send: (scene) => scene.post(gzipSync(sized(scene, LIMIT + 1)), { "Content-Encoding": "gzip" }),
  },
  {
    row: 7,
    name: "a gzip bomb",
    expected: { status: 400, problem: "body-too-large" },
    send: (scene) => scene.post(gzipSync(Buffer.alloc(64 * 1024 * 1024)), { "Content-Encoding": "gzip" }),
  },
  {
    row: 7,
    name: "endless gzip members that hold nothing",
    expected: { status: 400, problem: "body-too-large" },
    send: (scene) => {
      const member = gzipSync("");
      return scene.post(Buffer.concat(Array.from({ length: 20_000 }, () => member)), { "Content-Encoding": "gzip" });
    },
  },
];
