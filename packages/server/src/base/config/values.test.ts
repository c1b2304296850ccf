import { describe, expect, test } from "vitest";
import {
  duration,
  durationWithin,
  flag,
  hostNames,
  integer,
  key256,
  list,
  oneOf,
  type Kind,
  sharedSecret,
  text,
  url,
  webUrl,
} from "./values.ts";

const KEY = Buffer.from(Array.from({ length: 32 }, (_, index) => 255 - index));

function accepted({ read }: Kind<unknown>, rows: readonly (readonly [string, unknown])[]): void {
  for (const [raw, value] of rows) expect(read(raw), raw).toEqual({ value });
}

function expectProblem({ read }: Kind<unknown>, raws: readonly string[], problem: RegExp): void {
  for (const raw of raws) expect(read(raw), raw).toEqual({ problem: expect.stringMatching(problem) as string });
}

describe("a value of the configuration is read", () => {
  test("as a duration", () => {
    accepted(duration, [
      ["0", 0],
      ["0s", 0],
      ["500ms", 500],
      ["30s", 30_000],
      ["5m", 300_000],
      ["24h", 86_400_000],
      ["7d", 604_800_000],
    ]);
    const wrong = ["", "5", "5 m", "m", "-5m", "1.5h", "5M", "5w", "5m ", "1h30m", "0x5s", "1234567890s", "00", "-0"];
    expectProblem(duration, wrong, /must be a duration such as/);
    expectProblem(duration, ["36501d", "999999999d"], /must be from 0ms to 36500d/);
  });

  test("as a duration between two bounds, which are valid themselves", () => {
    const kind = durationWithin("1s", "1h");
    accepted(kind, [
      ["1s", 1_000],
      ["1000ms", 1_000],
      ["60m", 3_600_000],
    ]);
    expectProblem(kind, ["999ms", "0s", "61m", "2h"], /^must be from 1s to 1h$/);
    expectProblem(kind, ["x"], /such as/);
    expect(() => durationWithin("soon", "1h")).toThrow(TypeError);
  });

  test("as a whole number", () => {
    const kind = integer(2, 200);
    accepted(kind, [
      ["2", 2],
      ["200", 200],
      ["007", 7],
    ]);
    expectProblem(
      kind,
      ["", " 5", "1", "201", "5.0", "1e2", "-3", "+3", "0x10", "9".repeat(16)],
      /^must be a whole number/,
    );
  });

  test("as a flag, a choice, a list or a text", () => {
    accepted(flag, [
      ["true", true],
      ["false", false],
    ]);
    expectProblem(flag, ["", "1", "yes", "True"], /true or false/);
    accepted(oneOf("off", "record"), [["off", "off"]]);
    expectProblem(oneOf("off", "record"), ["", "OFF", "of"], /one of off, record/);
    accepted(list, [["RS256, ES256", ["RS256", "ES256"]]]);
    expectProblem(list, ["", "a,,b", "a,"], /separated by commas/);
    accepted(text, [["x", "x"]]);
    expectProblem(text, [""], /must not be empty/);
  });

  test("as a host name", () => {
    accepted(hostNames, [["metrics.internal, Prom-1", ["metrics.internal", "Prom-1"]]]);
    expectProblem(hostNames, ["h:8081", "http://h", "h/x", "a b", "-h", "h."], /without ports/);
    expectProblem(hostNames, ["", "a,,b"], /separated by commas/);
  });

  test("as the URL of a database", () => {
    const kind = url("postgres:", "postgresql:");
    accepted(kind, [["postgresql://u:p@h/d", "postgresql://u:p@h/d"]]);
    expectProblem(kind, ["", "h/d", "postgresql"], /^must be a URL$/);
    expectProblem(kind, ["mysql://h/d", "https://h"], /must start with postgres: or postgresql:/);
  });

  test("as a URL to fetch from, which has no credentials", () => {
    accepted(webUrl, [["https://h/jwks", "https://h/jwks"]]);
    expectProblem(
      webUrl,
      ["https://user:secret@h/", "https://user@h/", "http://:secret@h/"],
      /^must not hold credentials$/,
    );
    expectProblem(webUrl, ["ftp://h/"], /must start with https: or http:/);
  });

  test("as a key of 32 bytes", () => {
    const base64 = KEY.toString("base64");
    accepted(key256, [
      [base64, KEY],
      [base64.replace(/=+$/, ""), KEY],
    ]);
    const short = KEY.subarray(1).toString("base64");
    const long = Buffer.concat([KEY, KEY]).toString("base64");
    expectProblem(
      key256,
      ["", short, long, KEY.toString("hex"), `${base64} `, `!${base64}`],
      /must be 32 bytes in base64/,
    );
  });

  test("as a shared secret of at least 32 bytes", () => {
    accepted(sharedSecret, [["é".repeat(16), "é".repeat(16)]]);
    expectProblem(sharedSecret, ["x".repeat(31), ""], /at least 32 bytes/);
  });
});
