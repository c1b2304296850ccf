/** Cases of row 18: requests that are no POST to this endpoint, and invalid, incomplete or no HTTP. */
import { PATH, send, sendRaw } from "../support/client.ts";
import type { Case } from "./case.ts";

export const HTTP_CASES: readonly Case[] = [
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
    name: "a malformed chunk size",
    expected: { status: 400, problem: "http-malformed" },
    send: (scene) => scene.raw([...scene.rawHeaders(), "Transfer-Encoding: chunked"], "zz\r\n{}\r\n0\r\n\r\n"),
  },
];
