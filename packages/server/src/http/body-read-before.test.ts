import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import type { Ingest } from "../ingest/ingest.ts";
import { nodeHandler } from "./node-handler.ts";
import { webHandler } from "./web.ts";

const never: Ingest = () => Promise.reject(new Error("the core was called"));
const misuse = /^TypeError: the body has been read/;

test("a Request whose body was read before throws a TypeError, because the host made a mistake", async () => {
  const request = new Request("http://localhost/", { method: "POST", body: "{}" });
  await request.text();
  await expect(webHandler(never)(request).catch(String)).resolves.toMatch(misuse);
});

test("a node:http request that a body parser read before throws a TypeError, because the host made a mistake", async () => {
  const handle = nodeHandler(never);
  const server = createServer((request, response) => {
    request.resume().once("end", () => void handle(request, response).catch((error) => response.end(String(error))));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await (await fetch(url, { method: "POST", body: "{}" })).text()).toMatch(misuse);
  server.close();
});
