import { describe, expect, it } from "vitest";
import { formatLogKey, parseLogKey, signCheckpoint, verifyCheckpoint } from "./checkpoint.ts";
import { LOG_KEY, logKeyOf, ORIGIN, PRIVATE_KEY } from "./log.fixture.ts";
import { leafHash } from "./merkle.ts";

const checkpoint = { origin: ORIGIN, size: 17, root: leafHash(Buffer.from("a")) };
const note = signCheckpoint(checkpoint, PRIVATE_KEY);

describe("a checkpoint", () => {
  it("is a signed note: origin, size, root, and one signature", () => {
    expect(note.split("\n")).toEqual([
      ORIGIN,
      "17",
      checkpoint.root.toString("base64"),
      "",
      expect.stringMatching(/^\u2014 drs-audit\/test [\w+/]{90,}={0,2}$/) as string,
      "",
    ]);
    expect(verifyCheckpoint(note, LOG_KEY)).toEqual(checkpoint);
  });

  it("may have signatures of witnesses and lines of extensions", () => {
    const witnessed = `${note}\u2014 witness.example AAAAAAAA\n`;
    expect(verifyCheckpoint(witnessed, LOG_KEY)).toEqual(checkpoint);
  });

  it.each([
    ["another size", note.replace("\n17\n", "\n18\n")],
    ["another origin", note.replaceAll(ORIGIN, "drs-audit/other")],
    ["another root", note.replace(checkpoint.root.toString("base64"), leafHash().toString("base64"))],
    ["a line more", note.replace("\n\n", "\nmore\n\n")],
    ["no signature", note.slice(0, note.indexOf("\u2014"))],
    ["another key's signature", signCheckpoint(checkpoint, logKeyOf("another"))],
    ["a size with a leading zero", note.replace("\n17\n", "\n017\n")],
    ["nothing", ""],
  ])("with %s is not accepted", (_, changed) => {
    expect(verifyCheckpoint(changed, LOG_KEY)).toBeUndefined();
  });
});

describe("a key of a log", () => {
  it("is read as the documentation of Go's package note writes one", () => {
    const line = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    const key = parseLogKey(`${line}\n`);
    expect(key?.origin).toBe("PeterNeumann");
    if (key) expect(formatLogKey(key.origin, key.key)).toBe(line);
  });

  it.each(["", "name", "name+00000000+AQ==", formatLogKey(ORIGIN, PRIVATE_KEY).replace("drs", "other")])(
    "is not %j",
    (line) => {
      expect(parseLogKey(line)).toBeUndefined();
    },
  );
});
