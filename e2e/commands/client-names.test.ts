/**
 * Tests of names that clients choose: odd names are counted as `*`, without their text, and no name can control a
 * terminal.
 */
import { describe, expect, test } from "vitest";
import { authorized, freshKey, send, transport } from "../support/client.ts";
import { CommandScene } from "../support/command-scene.ts";
import { until } from "../support/embedded.ts";

/**
 * Characters that may control a terminal: format characters (Cf), such as direction marks and tags, and control
 * characters (Cc) except the line feed.
 */
const CONTROLS = /[^\P{Cc}\n]|\p{Cf}/u;

const scene = new CommandScene();
const { drs, listed, object, store } = scene;

describe("the list of drift", () => {
  test("counts members outside the catalog by path, type and SDK version, and counts odd names under *", async () => {
    const observations = {
      ...transport(scene.one).observations,
      probes: {
        fonts: { status: "success", data: { fontsDigest: 7, "odd name": "a value", fresh_field: true } },
        "an odd probe": { status: "success", data: { x: 1 } },
        fresh_probe: { status: "timeout" },
      },
    };
    for (let n = 0; n < 3; n++) await store(scene.one, { observations, sdk_version: "drift-1" });
    await store(scene.one, { observations, sdk_version: "drift 2" });
    const rows = async (version: string): Promise<Record<string, unknown>[]> =>
      (await listed("drift", "list")).filter((row) => row["sdk_version"] === version);
    await until(async () => (await rows("*")).length > 0);
    const found = (await rows("drift-1")).map((row) => `${String(row["path"])} ${String(row["json_type"])}`);
    expect(found.toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      "* object",
      "*.x number",
      "fonts.* string",
      "fonts.fontsDigest number",
      "fonts.fresh_field boolean",
      "fresh_probe object",
    ]);
    for (const { occurrences } of await rows("drift-1")) expect(occurrences).toBe(3);
    const { stdout } = await drs("drift", "list");
    for (const odd of ["odd name", "an odd probe", "a value", "drift 2"]) expect(stdout).not.toContain(odd);
    const counts = (await listed("drift", "list")).map((row) => row["occurrences"] as number);
    expect(counts).toEqual(counts.toSorted((a, b) => b - a));
  });
});

describe("names that clients chose", () => {
  const HOSTILE = "\u001b]0;pwned\u0007\u009b31m\u202e\u{E0041}\u007f\r\n\t";

  test("can't control a terminal, in a table or in JSON, and are stored unchanged", async () => {
    const who = { ...scene.one, sessionId: `s${HOSTILE}` };
    const key = freshKey();
    const sdk = `v${HOSTILE}`;
    const body = { ...transport(who), sdk_version: sdk, app_version: `a${HOSTILE}` };
    const answer = await send({
      url: scene.server.url,
      headers: authorized(scene.one, key),
      body: JSON.stringify(body),
    });
    expect(answer.status, answer.text).toBe(201);
    const eventId = answer.json["event_id"] as string;

    for (const json of [[], ["--json"]]) {
      for (const args of [
        ["event", "get", eventId],
        ["event", "list", "--sdk-version", sdk],
        ["drift", "list"],
        ["audit", "list"],
      ]) {
        const { code, stdout } = await drs(...args, ...json);
        expect(code).toBe(0);
        expect(stdout.length).toBeGreaterThan(10);
        expect(stdout, args.join(" ")).not.toMatch(CONTROLS);
      }
    }
    expect(await object("event", "get", eventId)).toMatchObject({
      session_id: who.sessionId,
      sdk_version: sdk,
      app_version: `a${HOSTILE}`,
    });
    const { stdout } = await drs("event", "get", eventId);
    expect(stdout).toContain("v\\u001b]0;pwned\\u0007\\u009b31m\\u202e\\udb40\\udc41\\u007f\\u000d\\u000a\\u0009");
    expect(stdout.trimEnd().split("\n")).toHaveLength(17);
  });

  test("can't control a terminal or the Markdown of a ticket in an event that is shown", async () => {
    const text = `[evil](https://evil.example) \` | <b>evil</b> @evil ${HOSTILE}`;
    const observations = {
      ...transport(scene.one).observations,
      probes: {
        network: { status: "error", error: text },
        fonts: { status: "skipped", reason: text },
        [text]: { status: "success", data: { [text]: text } },
      },
    };
    const eventId = await store(scene.one, { observations, app_version: "`<b>evil|" });
    const show = ["event", "show", eventId, "--reason", "dispute 4711"];
    for (const more of [[], ["--json"], ["--markdown"]]) {
      const { code, stdout } = await drs(...show, ...more);
      expect(code).toBe(0);
      expect(stdout).toContain("evil");
      expect(stdout, more.join(" ")).not.toMatch(CONTROLS);
    }
    expect(await object(...show)).toMatchObject({
      event: { app_version: "`<b>evil|" },
      fields: expect.arrayContaining([expect.objectContaining({ value: text, meaning: null })]) as object[],
    });
    const { stdout } = await drs(...show, "--markdown");
    const outside = stdout.replaceAll(/`[^`\n]*`/g, "CODE");
    expect(outside).not.toMatch(/evil|<|\]\(/);
    for (const table of outside.split("\n\n").filter((part) => part.startsWith("|"))) {
      const cells = table
        .trimEnd()
        .split("\n")
        .map((line) => line.split(/(?<!\\)\|/).length);
      expect(new Set(cells).size, table).toBe(1);
    }
  });

  test("can't control a terminal in messages about what an operator registers", async () => {
    const args = ["--account", `acc${HOSTILE}`, "--type", `t${HOSTILE}`, "--id", `i${HOSTILE}`];
    const printed = [
      await drs("action", "register", ...args),
      await drs("action", "register", ...args, "--json"),
      await drs("action", "list"),
      await drs("token", "issue", "--account", `acc${HOSTILE}`),
      await drs("token", "list", "--json"),
    ];
    for (const { code, stdout } of printed) {
      expect(code).toBe(0);
      expect(stdout).not.toMatch(CONTROLS);
    }
  });
});
