import { describe, expect, test } from "vitest";
import { localPath, loopbackUri } from "./redirects.ts";

describe("a return path", () => {
  test.each(["/", "/events", "/events?account=a%2Fb#top", "/admin/v1/session"])(
    "of this server is kept: %s",
    (path) => {
      expect(localPath(path)).toBe(path);
    },
  );

  test.each([
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "/.//evil.example",
    "/a/..//evil.example",
    "/%2e//evil.example",
    "javascript:alert(1)",
    "events",
    "",
  ])("of another server is refused: %j", (path) => {
    expect(() => localPath(path)).toThrow();
  });
});

describe("a redirect URI of a command", () => {
  test.each(["http://127.0.0.1:4711/callback", "http://[::1]:4711/"])("on loopback is kept: %s", (uri) => {
    expect(loopbackUri(uri)).toBe(uri);
  });

  test.each([
    "http://evil.example:4711/",
    "http://127.0.0.1.evil.example:4711/",
    "http://localhost:4711/",
    "https://127.0.0.1:4711/",
    "http://127.0.0.1/",
    "http://user@127.0.0.1:4711/",
    "http://127.0.0.1:4711/?code=1",
    "127.0.0.1:4711",
    "",
  ])("beyond this machine, or of another form, is refused: %s", (uri) => {
    expect(() => loopbackUri(uri)).toThrow();
  });
});
