import { afterEach, describe, expect, it, vi } from "vitest";
import { type ClientOptions, readClientOptions } from "./client-options.ts";

afterEach(() => vi.unstubAllGlobals());

const good: ClientOptions = {
  baseUrl: "https://api.example/app/",
  fetch,
  token: async () => "t",
  sdkVersion: "1.0.0",
  platform: "ios",
};

describe("the options of a client", () => {
  it("have defaults, also for members that are undefined", () => {
    const settings = readClientOptions({ ...good, appVersion: undefined, maxAttempts: undefined });
    expect(settings).toMatchObject({
      url: "https://api.example/app/api/v1/device-signal-events",
      appVersion: "",
      freshnessMs: 86_400_000,
      timeoutMs: 15_000,
      maxAttempts: 5,
      baseDelayMs: 1_000,
      maxDelayMs: 60_000,
    });
  });

  it("are rejected with all their problems and without their values", () => {
    const wrong = {
      baseUrl: "ftp://secret",
      fetch: null,
      token: "secret",
      sdkVersion: "",
      platform: "secret",
      appVersion: "x".repeat(65),
      randomBytes: 7,
      timeoutMs: 0,
      maxAttempts: 1.5,
      maxDelayMs: Number.NaN,
    };
    let message = "";
    try {
      readClientOptions(wrong as unknown as ClientOptions);
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError);
      message = (error as Error).message;
    }
    for (const name of Object.keys(wrong)) expect(message).toContain(name);
    expect(message).toContain("timeoutMs must be a whole number from 1 to");
    expect(message).not.toContain("secret");
    expect(message).not.toContain("freshnessMs");
  });

  it.each([
    "",
    "api.example",
    "https://",
    "https://api.example/?a=b",
    "https://user:word@api.example",
    "app:https://api.example",
    7,
    undefined,
  ])("reject %j as a base URL", (baseUrl) => {
    expect(() => readClientOptions({ ...good, baseUrl } as ClientOptions)).toThrow("baseUrl");
  });

  it.each(["", "/", "//"])("reject a base URL that already ends in the path and %j", (end) => {
    const baseUrl = `https://api.example/app/api/v1/device-signal-events${end}`;
    expect(() => readClientOptions({ ...good, baseUrl })).toThrow(
      "baseUrl must not end in /api/v1/device-signal-events, which the client adds",
    );
  });

  it("ignore all slashes at the end of the base URL", () => {
    const { url } = readClientOptions({ ...good, baseUrl: "https://api.example/app///" });
    expect(url).toBe("https://api.example/app/api/v1/device-signal-events");
  });

  it("are rejected with the names of all required options if no option is given", () => {
    expect(() => readClientOptions(undefined as unknown as ClientOptions)).toThrow(/baseUrl.*fetch.*token/);
  });

  it("count characters as the server does", () => {
    expect(() => readClientOptions({ ...good, sdkVersion: "😀".repeat(32) })).not.toThrow();
    expect(() => readClientOptions({ ...good, sdkVersion: "😀".repeat(33) })).toThrow("sdkVersion");
  });

  it("must include randomBytes on a platform without crypto.getRandomValues", () => {
    vi.stubGlobal("crypto", undefined);
    expect(() => readClientOptions(good)).toThrow("randomBytes must be a function");
    expect(() => readClientOptions({ ...good, randomBytes: () => [] })).not.toThrow();
  });
});
