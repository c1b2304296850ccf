import { describe, expect, it } from "vitest";
import { answerOpenApi, pathOf } from "./paths.ts";

describe("the path of a request target", () => {
  it.each([
    ["/a/b", "/a/b"],
    ["/a?b=/c", "/a"],
    ["/a#b", "/a"],
    ["/a?b#c", "/a"],
    ["/", "/"],
    ["/?", "/"],
    ["//a", "//a"],
    ["http://host/a?b", "/a"],
    ["HTTPS://host:1/a", "/a"],
    ["http://host", "/"],
    ["*", "*"],
    ["", "/"],
    ["/http://host/a", "/http://host/a"],
  ])("of %j is %j", (target, path) => {
    expect(pathOf(target)).toBe(path);
  });

  it("is compared unchanged, so another spelling is another path", () => {
    for (const target of [
      "/API/v1/device-signal-events",
      "/api/v1/device-signal-events/",
      "/api/v1/%64evice-signal-events",
    ]) {
      expect(pathOf(target)).not.toBe("/api/v1/device-signal-events");
    }
  });
});

it("the OpenAPI document answers only GET and HEAD", () => {
  expect(answerOpenApi("GET", "{}")).toEqual({
    status: 200,
    headers: { "Content-Type": "application/json" },
    body: "{}",
  });
  expect(answerOpenApi("HEAD", "{}").status).toBe(200);
  expect(answerOpenApi("POST", "{}")).toMatchObject({ status: 405, headers: { Allow: "GET, HEAD" } });
});
