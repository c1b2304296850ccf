/** Every way in which the endpoint must say no, row by row of the table of semantics. */
import { gzipSync } from "node:zlib";
import { PATH, send, sendRaw } from "../support/client.ts";
import type { Case, Expected, Scene } from "./case.ts";

const LIMIT = 262_144;
const MARK = "\u{1F600}";

type Json = Record<string, never>;

const text400 = (error: NonNullable<Expected["error"]>, pointer = ""): Expected => ({
  status: 400,
  problem: "text-invalid",
  error,
  pointer,
});

const request400 = (error: NonNullable<Expected["error"]>, pointer: string): Expected => ({
  status: 400,
  problem: "request-invalid",
  error,
  pointer,
});

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

const textError = (name: string, expected: Expected, change: (text: string) => string | Uint8Array): Case => ({
  row: 8,
  name,
  expected,
  send: (scene) => scene.post(change(JSON.stringify(scene.good()))),
});

const change = (row: number, name: string, expected: Expected, work: (request: Json) => void): Case => ({
  row,
  name,
  expected,
  send: (scene) => scene.changed(work),
});

/** Sets a value deep in a request. */
function set(request: unknown, path: string, value: unknown): void {
  const names = path.split("/").slice(1);
  const last = names.pop() as string;
  const parent = names.reduce((at, name) => at[name] as Record<string, unknown>, request as Record<string, unknown>);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
}

const setting = (row: number, error: NonNullable<Expected["error"]>, path: string, value: unknown, note = ""): Case =>
  change(
    row,
    `${path} ${value === undefined ? "absent" : `= ${JSON.stringify(value).slice(0, 40)}`}${note}`,
    request400(error, path),
    (request) => set(request, path, value),
  );

const nested = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { deep: value };
  return value;
};

/** The pointer of the container at the given depth inside `nested(levels)`. */
const nestedPointer = (levels: number, steps: number): string => {
  let pointer = "";
  for (let step = 0; step < steps; step++) pointer += (levels - 1 - step) % 2 === 0 ? "/0" : "/deep";
  return pointer;
};

/** Grows the good request to exactly this many bytes. */
export function sized(scene: Scene, bytes: number): Buffer {
  const request = scene.good();
  const probes = request.observations["probes"] as Record<string, unknown>;
  probes["filler"] = { status: "success", data: { text: "" } };
  const room = bytes - Buffer.byteLength(JSON.stringify(request));
  probes["filler"] = { status: "success", data: { text: "x".repeat(room) } };
  return Buffer.from(JSON.stringify(request));
}

const collectedAt = (name: string, expected: Expected, at: () => string): Case =>
  change(12, name, expected, (request) => set(request, "/observations/collected_at", at()));

const action = (name: string, work: (request: Json, scene: Scene) => void): Case => ({
  row: 15,
  name,
  expected: { status: 403, problem: "action-refused", pointer: "/action_id" },
  send: (scene) => {
    const request = scene.good();
    work(request as never, scene);
    return scene.post(JSON.stringify(request));
  },
});

const P = "/observations/probes";
const O = "/observations";

export const REJECTIONS: readonly Case[] = [
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
      scene.post("{", { Authorization: "Bearer nobody", "Idempotency-Key": "", "Content-Type": "text/plain" }),
  },
  {
    row: 2,
    name: "Expect: 100-continue gets its 401 before the body is invited",
    expected: { status: 401, problem: "credentials-invalid" },
    send: (scene) =>
      scene.raw(["Authorization: Bearer nobody", "Idempotency-Key: k", "Expect: 100-continue", "Content-Length: 500"]),
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
  corrupt("gzip that is none", (good) => good),
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

  textError("an empty body", text400("json-invalid"), () => ""),
  textError("a body cut short", text400("json-invalid"), (text) => text.slice(0, -1)),
  textError("bytes after the JSON text", text400("json-invalid"), (text) => `${text}x`),
  textError("two JSON texts", text400("json-invalid"), (text) => text + text),
  textError("a trailing comma", text400("json-invalid"), (text) => text.replace(/\}$/, ",}")),
  textError("a comment", text400("json-invalid"), (text) => `/* */${text}`),
  textError("NaN", text400("json-invalid"), (text) => text.replace('"sensorCount":23', '"sensorCount":NaN')),
  textError("a byte order mark", text400("byte-order-mark"), (text) => `\uFEFF${text}`),
  textError("UTF-16", text400("utf8-invalid"), (text) => Buffer.from(`\uFEFF${text}`, "utf16le")),
  textError("a lone continuation byte", text400("utf8-invalid"), (text) => inText(text, [0x80])),
  textError("an overlong encoding", text400("utf8-invalid"), (text) => inText(text, [0xc0, 0xaf])),
  textError("a surrogate in UTF-8", text400("utf8-invalid"), (text) => inText(text, [0xed, 0xa0, 0x80])),
  textError("beyond U+10FFFF", text400("utf8-invalid"), (text) => inText(text, [0xf4, 0x90, 0x80, 0x80])),
  textError("a duplicate member of the transport", text400("duplicate-member", "/action_id"), (text) =>
    text.replace("{", '{"action_id":"first",'),
  ),
  textError("a duplicate member of the envelope", text400("duplicate-member", `${O}/session_id`), (text) =>
    text.replace('"observations":{', '"observations":{"session_id":"first",'),
  ),
  textError("a duplicate probe", text400("duplicate-member", `${P}/fonts`), (text) =>
    text.replace('"probes":{', '"probes":{"fonts":{"status":"timeout"},'),
  ),
  textError("a duplicate member with the same value", text400("duplicate-member", `${P}/fonts/status`), (text) =>
    text.replace('"status":"error"', '"status":"error","status":"error"'),
  ),
  textError("a duplicate field deep in unknown data", text400("duplicate-member", `${P}/new/data/list/1/x`), (text) =>
    text.replace('"probes":{', '"probes":{"new":{"status":"success","data":{"list":[{"x":1},{"x":1,"y":2,"x":3}]}},'),
  ),
  textError("a duplicate name spelt with an escape", text400("duplicate-member", `${P}/fonts/status`), (text) =>
    text.replace('"status":"error"', '"status":"error","st\\u0061tus":"error"'),
  ),
  textError("a duplicate __proto__", text400("duplicate-member", `${P}/fonts/__proto__`), (text) =>
    text.replace('"status":"error"', '"__proto__":1,"__proto__":2,"status":"error"'),
  ),
  textError("a lone high surrogate", text400("lone-surrogate", `${P}/fonts/error`), (text) =>
    text.replace("unreadable", "\\ud83d"),
  ),
  textError("a lone low surrogate", text400("lone-surrogate", `${P}/fonts/error`), (text) =>
    text.replace("unreadable", "\\uDE00 x"),
  ),
  textError("surrogates in the wrong order", text400("lone-surrogate", `${P}/fonts/error`), (text) =>
    text.replace("unreadable", "\\ude00\\ud83d"),
  ),
  textError("a lone surrogate in a name", text400("lone-surrogate", `${P}/os_integrity/data`), (text) =>
    text.replace('"sensorCount"', '"\\ud800"'),
  ),
  textError("1e400", text400("number-overflow", `${P}/os_integrity/data/sensorCount`), (text) =>
    text.replace('"sensorCount":23', '"sensorCount":1e400'),
  ),
  textError("-1e400", text400("number-overflow", `${P}/os_integrity/data/sensorCount`), (text) =>
    text.replace('"sensorCount":23', '"sensorCount":-1e400'),
  ),
  textError("400 digits", text400("number-overflow", `${P}/os_integrity/data/sensorCount`), (text) =>
    text.replace('"sensorCount":23', `"sensorCount":${"9".repeat(400)}`),
  ),
  change(
    8,
    "nesting of 65",
    text400("nesting-too-deep", `${P}/os_integrity/data/deep${nestedPointer(60, 59)}`),
    (request) => set(request, `${P}/os_integrity/data/deep`, nested(60)),
  ),
  textError(
    "100,000 brackets",
    text400("nesting-too-deep", "/0".repeat(64)),
    () => "[".repeat(100_000) + "]".repeat(100_000),
  ),

  ...["[]", '"text"', "1", "null", "true"].map((body): Case => ({
    row: 9,
    name: `the body is ${body}`,
    expected: request400("type-wrong", ""),
    send: (scene) => scene.post(body),
  })),
  ...["action_id", "action_type", "sdk_version", "platform", "observations"].flatMap((name) => [
    setting(9, "member-missing", `/${name}`, undefined),
    setting(9, "type-wrong", `/${name}`, null),
    setting(9, "type-wrong", `/${name}`, 7),
  ]),
  setting(9, "type-wrong", "/app_version", 7),
  setting(9, "type-wrong", "/app_version", null),
  ...["action_id", "action_type", "sdk_version"].map((name) => setting(9, "too-short", `/${name}`, "")),
  setting(9, "too-long", "/action_id", "a".repeat(129)),
  setting(9, "too-long", "/action_id", MARK.repeat(129), " (code points)"),
  setting(9, "too-long", "/action_type", "a".repeat(65)),
  setting(9, "too-long", "/sdk_version", "a".repeat(33)),
  setting(9, "too-long", "/app_version", "a".repeat(65)),
  ...["action_id", "action_type", "sdk_version", "app_version"].map((name) =>
    setting(9, "character-not-allowed", `/${name}`, "a\0b"),
  ),
  setting(9, "value-not-allowed", "/platform", "windows"),
  setting(9, "value-not-allowed", "/platform", "Android"),
  setting(9, "value-not-allowed", "/platform", ""),
  setting(9, "member-unknown", "/risk_score", 1),
  setting(9, "member-unknown", "/constructor", {}),
  textError("__proto__ beside the transport's members", request400("member-unknown", "/__proto__"), (text) =>
    text.replace("{", '{"__proto__":{"action_id":"x"},'),
  ),
  textError(
    "a member named by an escape, behind an object with a backslash at its place",
    request400("member-unknown", `${P}/y/~1`),
    (text) =>
      text.replace(
        '"probes":{',
        String.raw`"probes":{"x":{"status":"skipped","reason":"","\\":1},"y":{"status":"skipped","reason":"","\/":1},`,
      ),
  ),
  setting(9, "type-wrong", O, []),
  setting(9, "type-wrong", O, "event"),

  ...["session_id", "event_type", "schema_version", "collected_at", "probes"].map((name) =>
    setting(10, "member-missing", `${O}/${name}`, undefined),
  ),
  textError(
    "a required member that only a prototype could bring",
    request400("member-missing", `${O}/session_id`),
    (text) => text.replace(/"session_id":"[^"]*"/, '"__proto__":{"session_id":"s"}'),
  ),
  setting(10, "type-wrong", `${O}/session_id`, 1),
  setting(10, "too-short", `${O}/session_id`, ""),
  setting(10, "too-long", `${O}/session_id`, "s".repeat(129)),
  setting(10, "character-not-allowed", `${O}/session_id`, "s\0"),
  setting(10, "type-wrong", `${O}/client_id`, 1),
  setting(10, "type-wrong", `${O}/client_id`, null),
  setting(10, "too-short", `${O}/client_id`, ""),
  setting(10, "value-not-allowed", `${O}/event_type`, "other"),
  setting(10, "type-wrong", `${O}/event_type`, 1),
  setting(10, "value-not-allowed", `${O}/schema_version`, 2),
  setting(10, "value-not-allowed", `${O}/schema_version`, 1.5),
  setting(10, "type-wrong", `${O}/schema_version`, "1"),
  setting(10, "type-wrong", `${O}/schema_version`, true),
  setting(10, "type-wrong", P, []),
  setting(10, "type-wrong", P, null),
  setting(10, "type-wrong", `${P}/fonts`, null),
  setting(10, "type-wrong", `${P}/fonts`, "error"),
  setting(10, "type-wrong", `${P}/fonts`, []),
  setting(10, "member-missing", `${P}/fonts/status`, undefined),
  setting(10, "type-wrong", `${P}/fonts/status`, 1),
  setting(10, "value-not-allowed", `${P}/fonts/status`, "omitted"),
  setting(10, "value-not-allowed", `${P}/fonts/status`, "constructor"),
  setting(10, "member-missing", `${P}/fonts/error`, undefined),
  setting(10, "type-wrong", `${P}/fonts/error`, {}),
  setting(10, "member-unknown", `${P}/fonts/data`, {}),
  setting(10, "member-missing", `${P}/geolocation/reason`, undefined),
  setting(10, "type-wrong", `${P}/geolocation/reason`, false),
  setting(10, "member-unknown", `${P}/geolocation/error`, "x"),
  setting(10, "member-unknown", `${P}/gpu_benchmark/reason`, "slow"),
  setting(10, "member-unknown", `${P}/gpu_benchmark/data`, {}),
  setting(10, "member-missing", `${P}/os_integrity/data`, undefined),
  setting(10, "type-wrong", `${P}/os_integrity/data`, []),
  setting(10, "type-wrong", `${P}/os_integrity/data`, null),
  setting(10, "member-unknown", `${P}/os_integrity/reason`, "x"),
  setting(10, "type-wrong", `${P}/unknown_probe`, 1),
  textError("__proto__ on an outcome", request400("member-unknown", `${P}/gpu_benchmark/__proto__`), (text) =>
    text.replace('"status":"timeout"', '"status":"timeout","__proto__":{"status":"success"}'),
  ),
  change(10, "several errors, all named (first)", request400("member-missing", "/action_id"), severalErrors),
  change(10, "several errors, all named (second)", request400("type-wrong", `${P}/fonts/error`), severalErrors),
  change(10, "several errors, all named (third)", request400("date-time-invalid", `${O}/collected_at`), severalErrors),

  ...[
    "2026-01-31",
    "2026-01-31T08:15:00",
    "2026-02-30T08:15:00Z",
    "2026-01-31 08:15:00Z",
    "2026-01-31T24:00:00Z",
    "2026-01-31T08:15:60Z",
    "2026-01-31T08:15:00+0100",
    "20260131T081500Z",
    "yesterday",
    "",
    "2026-01-31T08:15:00Z ",
    "2026-13-01T08:15:00Z",
  ].map((value) => setting(12, "date-time-invalid", `${O}/collected_at`, value)),
  setting(12, "type-wrong", `${O}/collected_at`, 1_795_000_000_000),

  collectedAt(
    "collected 24 h and a little ago",
    { status: 400, problem: "collected-at-stale", pointer: `${O}/collected_at` },
    () => new Date(Date.now() - 24 * 3_600_000 - 2_000).toISOString(),
  ),
  collectedAt(
    "collected in 1970",
    { status: 400, problem: "collected-at-stale", pointer: `${O}/collected_at` },
    () => "1970-01-01T00:00:00Z",
  ),
  collectedAt(
    "collected 5 min and a little ahead",
    { status: 400, problem: "collected-at-future", pointer: `${O}/collected_at` },
    () => new Date(Date.now() + 5 * 60_000 + 2_000).toISOString(),
  ),
  collectedAt(
    "collected in 9999",
    { status: 400, problem: "collected-at-future", pointer: `${O}/collected_at` },
    () => "9999-12-31T23:59:59Z",
  ),

  action("an unknown action", (request) => set(request, "/action_id", "unknown")),
  action("an action of another account", (request, { parties }) => set(request, "/action_id", parties.other.actionId)),
  action("an action of another type", (request, { parties }) => set(request, "/action_id", parties.otherType)),
  action("an expired action", (request, { parties }) => set(request, "/action_id", parties.expiredAction)),
  action("a revoked action", (request, { parties }) => set(request, "/action_id", parties.revokedAction)),

  change(
    16,
    "another session than the action's",
    { status: 403, problem: "session-mismatch", pointer: `${O}/session_id` },
    (request) => set(request, `${O}/session_id`, "another"),
  ),

  {
    row: 18,
    name: "a path that is none",
    expected: { status: 404, problem: "not-found" },
    send: (scene) => send({ url: scene.url, path: "/api/v1/other", headers: scene.headers }),
  },
  {
    row: 18,
    name: "a body that never comes",
    expected: { status: 408, problem: "request-timeout" },
    send: (scene) => scene.raw([...scene.rawHeaders(), "Content-Length: 1000"], "{", 8_000),
  },
  {
    row: 18,
    name: "a header section of 20 KB",
    expected: { status: 431, problem: "headers-too-large" },
    send: (scene) => scene.raw([...scene.rawHeaders(), `X-Long: ${"x".repeat(20_000)}`]),
  },
  {
    row: 18,
    name: "no Host",
    expected: { status: 400, problem: "http-malformed" },
    send: (scene) => sendRaw(scene.url, `POST ${PATH} HTTP/1.1\r\nContent-Length: 0\r\n\r\n`),
  },
  {
    row: 18,
    name: "two Host headers",
    expected: { status: 400, problem: "http-malformed" },
    send: (scene) => scene.raw([...scene.rawHeaders(), "HOST: another", "Content-Length: 2"], "{}"),
  },
  {
    row: 18,
    name: "CONNECT",
    expected: { status: 405, problem: "method-not-allowed", headers: { allow: "POST" } },
    send: (scene) => sendRaw(scene.url, "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n"),
  },
  {
    row: 6,
    name: "Transfer-Encoding: gzip, chunked",
    expected: { status: 415, problem: "encoding-unsupported" },
    send: (scene) => scene.raw([...scene.rawHeaders(), "Transfer-Encoding: gzip, chunked"], "0\r\n\r\n"),
  },
  {
    row: 18,
    name: "no HTTP at all",
    expected: { status: 400, problem: "http-malformed" },
    send: (scene) => sendRaw(scene.url, "good morning\r\n\r\n"),
  },
  {
    row: 18,
    name: "a Content-Length that is smaller than the body",
    expected: { status: 400, problem: "text-invalid", error: "json-invalid" },
    send: (scene) => scene.raw([...scene.rawHeaders(), "Content-Length: 10"], JSON.stringify(scene.good())),
  },
  {
    row: 18,
    name: "two Content-Lengths",
    expected: { status: 400, problem: "http-malformed" },
    send: (scene) => scene.raw([...scene.rawHeaders(), "Content-Length: 10", "Content-Length: 20"], "0123456789"),
  },
  {
    row: 18,
    name: "Content-Length and chunked",
    expected: { status: 400, problem: "http-malformed" },
    send: (scene) =>
      scene.raw([...scene.rawHeaders(), "Content-Length: 10", "Transfer-Encoding: chunked"], "0\r\n\r\n"),
  },
  {
    row: 18,
    name: "a chunk size that is none",
    expected: { status: 400, problem: "http-malformed" },
    send: (scene) => scene.raw([...scene.rawHeaders(), "Transfer-Encoding: chunked"], "zz\r\n{}\r\n0\r\n\r\n"),
  },
];

function inText(text: string, bytes: readonly number[]): Uint8Array {
  const at = text.indexOf("unreadable");
  return Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.from(bytes), Buffer.from(text.slice(at))]);
}

function severalErrors(request: Json): void {
  set(request, "/action_id", undefined);
  set(request, `${P}/fonts/error`, 1);
  set(request, `${O}/collected_at`, "now");
}
