/** Tests of the help of each command, of wrong usage, and of exit codes. */
import { describe, expect, test } from "vitest";
import {
  argumentsOf,
  commandsOfInstallation,
  runWithBreakGlass,
  everyCommand,
  leafCommands,
  type Printed,
  shownCommands,
} from "../support/command.ts";
import { CommandScene } from "../support/command-scene.ts";
import { runDrs } from "../support/server.ts";

const NO_EVENT = "019a0000-0000-7000-8000-000000000000";

const scene = new CommandScene();
const { drs, object, store } = scene;

describe("the command drs", () => {
  test.each(everyCommand().map((path) => [path.join(" "), path]))("prints help for %s", async (name, path) => {
    const { code, stdout, stderr } = await drs(...path, "--help");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`^Usage: drs${name === "" ? "" : ` ${name}`}\\b`));
    const [, examples = ""] = /\nExamples?:\n((?: {2}\$ .+\n(?: {6}\S.*\n)*)+)\n*$/.exec(stdout) ?? [];
    expect(examples).toMatch(new RegExp(`^ {2}\\$ (DRS_\\w+=\\S+ )*drs ${name}`));
    expect(examples, "a reason has at least eight characters").not.toMatch(/--reason "[^"]{0,7}"/);
  });

  test("has every command that the pages show", () => {
    const leaves = new Set(leafCommands());
    const groups = new Set([...leaves].map((name) => name.split(" ")[0]));
    const unknown = shownCommands(["*.md", "docs/**/*.md", "packages/*/README.md"])
      .filter(({ words: [group = "", ...rest] }) => {
        const isGroup = groups.has(group) && rest.length === 0;
        return !isGroup && ![1, 2, 3].some((length) => leaves.has([group, ...rest].slice(0, length).join(" ")));
      })
      .map(({ page, words }) => `${page}: drs ${words.join(" ")}`);
    expect(unknown).toEqual([]);
  });

  const wrong: string[][] = [
    [],
    ["nonsense"],
    ["token"],
    ["token", "nonsense"],
    ...everyCommand()
      .filter((path) => path.length > 0)
      .map((path) => [...path, "--nonsense"]),
    ["doctor", "more"],
    ["serve", "--only", "everything"],
    ["token", "issue"],
    ["token", "issue", "--account", ""],
    ["token", "issue", "--account", "x".repeat(257)],
    ["token", "issue", "--account", "a", "--ttl", "soon"],
    ["token", "issue", "--account", "a", "--ttl", "0s"],
    ["token", "issue", "--account", "a", "--ttl", "3651d"],
    ["token", "revoke"],
    ["token", "revoke", "no-uuid"],
    ["action", "register", "--account", "a"],
    ["action", "register", "--type", "t"],
    ["action", "register", "--account", "a", "--type", "x".repeat(65)],
    ["action", "register", "--account", "a", "--type", "t", "--id", "x".repeat(129)],
    ["action", "register", "--account", "a", "--type", "t", "--session", "x".repeat(129)],
    ["action", "revoke", "act_1"],
    ["event", "get"],
    ["event", "get", "no-uuid"],
    ["event", "get", NO_EVENT, "--raw"],
    ["event", "get", NO_EVENT, "--raw", "--reason", ""],
    ["event", "get", NO_EVENT, "--raw", "--case", NO_EVENT, "--reason", "dispute 4711"],
    ["event", "get", NO_EVENT, "--raw", "--reason", "dispute 4711", "--category", "other"],
    ["event", "get", NO_EVENT, "--case", NO_EVENT],
    ["case", "open", "--category", "dispute", "--reason", "dispute 4711"],
    ["case", "open", "--category", "dispute", "--reason", "dispute 4711", "--action", "b"],
    ["event", "list", "--limit", "-1"],
    ["event", "list", "--limit", "many"],
    ["event", "list", "--after", "no-uuid"],
    ["hold", "add", "--account", "a", "--reason", "request 17", "--review", "2999-01-31", "--approver", " "],
    ["request", "add", "--account", "a", "--kind", "access", "--identity", " \t"],
    ["audit", "list", "--event", "no-uuid"],
    ["audit", "list", "--limit", "1.5"],
    ["erase", "accept-loss", "--entry", "0", "--reason", "request 17", "--yes"],
  ];
  test.each(wrong.map((args) => [args.join(" ").slice(0, 60), args]))(
    "exits with code 2 for the wrong usage: %s",
    async (_, args) => {
      const { code, stdout, stderr } = await drs(...args);
      expect(code).toBe(2);
      expect(stdout).toBe("");
      expect(stderr).not.toBe("");
    },
  );

  test.each([
    ["blank", "        "],
    ["too short", "dispute"],
    ["short within its blanks", "   dispute   "],
    ["of three characters only", "abcabcabcabc"],
    ["invisible", "\u200b\u200c\u200d\u2060\u200b\u200c\u200d\u2060"],
    ["too long", "dispute ".repeat(126)],
  ])("rejects a reason that is %s, wherever one is required", async (_, text) => {
    const { DRS_REASON_MIN_LENGTH: __, ...usual } = scene.environment;
    const commands = [
      ["event", "get", NO_EVENT, "--raw", "--reason", text],
      ["account", "export", "--account", "one", "--out", "/nowhere/export", "--reason", text],
      ["erase", "run", "--account", "one", "--yes", "--reason", text],
      ["hold", "add", "--account", "one", "--approver", "x", "--review", "2999-01-31", "--reason", text],
      ["hold", "review", NO_EVENT, "--review", "2999-01-31", "--approver", "x", "--reason", text],
      ["hold", "lift", NO_EVENT, "--yes", "--reason", text],
      ["request", "extend", NO_EVENT, "--reason", text],
      ["request", "close", NO_EVENT, "--outcome", "refused", "--reason", text],
    ];
    for (const args of commands) {
      const { code, stdout, stderr } = await runWithBreakGlass(usual, ...args);
      expect({ code, stdout }, args.join(" ")).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain("a reason has 8 to 1000 characters, 4 of them different");
    }
  });

  test("requires reasons of the minimum length in DRS_REASON_MIN_LENGTH", async () => {
    const get = (text: string, least: string): Promise<Printed> =>
      runWithBreakGlass(
        { ...scene.environment, DRS_REASON_MIN_LENGTH: least },
        "event",
        "get",
        NO_EVENT,
        "--raw",
        "--reason",
        text,
      );
    expect((await get("dispute 4711", "13")).code).toBe(2);
    expect((await get("dispute 4711", "12")).code).toBe(1);
    expect((await get("dispute 4711", "many")).stderr).toContain("DRS_REASON_MIN_LENGTH must be a whole number");
  });

  test("counts lengths in characters and not in code units", async () => {
    const account = "\u{1F600}".repeat(256);
    const { token } = await object("token", "issue", "--account", account);
    const { action_id } = await object("action", "register", "--account", account, "--type", "payment");
    expect((await drs("token", "issue", "--account", `${account}x`)).code).toBe(2);
    const who = { account, token: String(token), actionId: String(action_id), actionType: "payment", sessionId: "s" };
    const eventId = await store(who);
    expect(await object("event", "get", eventId)).toMatchObject({ account });
  });

  const failing: string[][] = [
    ["event", "get", NO_EVENT],
    ["event", "get", NO_EVENT, "--raw", "--reason", "curious"],
    // An id that the server did not make, with a time in the year 10889.
    ["event", "get", "ffffffff-ffff-4fff-bfff-ffffffffffff"],
    ["token", "revoke", NO_EVENT],
    ["action", "revoke", "no-such", "--account", "one"],
  ];
  test.each(failing.map((args) => [args.join(" "), args]))(
    "exits with code 1 and a message when it fails: %s",
    async (_, args) => {
      const { code, stdout, stderr } = await drs(...args);
      expect(code).toBe(1);
      expect(stdout).toBe("");
      expect(stderr).toMatch(/^There is no .+\n$/);
    },
  );

  const leaves = commandsOfInstallation()
    .map((name) => name.split(" "))
    .filter((path) => path.length > 1 || ["doctor", "migrate", "serve"].includes(path[0] ?? ""));
  const withDatabase = leaves.filter((path) => path.join(" ") !== "receipt verify");
  test.each(withDatabase.map((path) => [path.join(" "), path]))(
    "exits with a message if there is no database: %s",
    async (name, path) => {
      const away = { ...scene.environment, DRS_DATABASE_URL: "postgresql://drs:hunter2@127.0.0.1:1/drs" };
      const { code, stdout, stderr } = await runWithBreakGlass(away, ...path, ...argumentsOf(name));
      // The doctor also tries what needs no database.
      expect({ code, stdout }).toEqual({ code: 1, stdout: name === "doctor" ? expect.stringContaining("FAIL") : "" });
      expect(stderr).toBe(
        "the database can't be reached: connection refused (ECONNREFUSED): check that it runs, and its host and port " +
          "(drs@127.0.0.1:1/drs; DRS_DATABASE_URL, option database.url)\n",
      );
    },
  );

  test("reports every problem of an invalid configuration, in every command", async () => {
    const broken = { DRS_PORT: "x", DRS_PROT: "1", DRS_KEY_ENCRYPTION_KEY: "hunter2" };
    for (const path of [...leaves, ["config"]]) {
      const { code, stdout, stderr } = await runWithBreakGlass(broken, ...path, ...argumentsOf(path.join(" ")));
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      for (const name of Object.keys(broken)) expect(stderr, path.join(" ")).toContain(name);
      expect(stderr).not.toContain("hunter2");
    }
  });

  test("has the same exit codes when it runs as a separate process", async () => {
    const codes = await Promise.all(
      [["--help"], ["nonsense"], ["token", "revoke", NO_EVENT]].map((args) => runDrs(scene.environment, args)),
    );
    expect(codes.map(({ code }) => code)).toEqual([0, 2, 1]);
  });

  test.each([
    [0, "the process that reads its output ends early", "| true"],
    ...(process.platform === "linux" ? [[1, "the disk of its output is full", "> /dev/full"] as const] : []),
  ] as const)("ends with the exit code %d if %s", async (expected, _why, output) => {
    const { execFile } = await import("node:child_process");
    const script = `set -o pipefail; "$0" packages/server/bin/drs.js event list --help ${output}`;
    const env = { PATH: process.env["PATH"], ...scene.environment };
    const code = await new Promise((resolve) => {
      execFile("bash", ["-c", script, process.execPath], { env }, (error) => resolve(error?.code ?? 0));
    });
    expect(code).toBe(expected);
  });
});

test("drs config prints durations in the form in which they are configured", async () => {
  const { stdout } = await runWithBreakGlass({ DRS_REQUEST_TIMEOUT: "5s", DRS_KEY_BACKUP_RETENTION: "30d" }, "config");
  expect(stdout).toMatch(/^DRS_REQUEST_TIMEOUT=5s$/m);
  expect(stdout).toMatch(/^DRS_KEY_BACKUP_RETENTION=30d$/m);
  expect(stdout).toMatch(/^DRS_MAX_AGE=24h$/m);
});
