import { expect, it } from "vitest";
import { VERSION } from "../base/version.ts";
import { runAsGiven } from "../../../../e2e/support/command.ts";

it("drs --version prints the version of the package", async () => {
  expect(await runAsGiven({}, "--version")).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: "" });
});

it("drs --help has the commands under headings, one in each line", async () => {
  const { stdout } = await runAsGiven({}, "--help");
  expect(stdout).toMatch(/^Privacy:\n {2}purpose {2,}\S.*\n {2}retention {2,}\S.*\n {2}hold /m);
  const [, commands = ""] = /\n\nRun a server:\n([^]*)\n\nExit codes:/.exec(stdout) ?? [];
  expect(commands.split("\n").filter((line) => !/^(?: {2}\S.{0,78}|[A-Z].*:|)$/.test(line))).toEqual([]);
});

it.each(["run", "raw"])(
  "the help of drs export %s shows one example on two lines, which can be pasted",
  async (name) => {
    const { stdout } = await runAsGiven({}, "export", name, "--help");
    expect(stdout).toMatch(/\n\nExample:\n {2}\$ drs export .* \\\n {6}--.*\n+$/);
  },
);

it.each([
  [
    ["hold", "add", "--account", "a"],
    "error: required options '--reason <text>', '--approver <name>', '--review <date>' not specified",
  ],
  [["token", "issue"], "error: required option '--account <account>' not specified"],
  [
    ["account", "export", "--out", "x"],
    "error: required options '--account <account>', '--reason <text>' not specified",
  ],
])("all missing required options are named at once: %s", async (args, message) => {
  expect(await runAsGiven({}, ...args)).toEqual({
    code: 2,
    stdout: "",
    stderr: `${message}\n(--help shows an example)\n`,
  });
});

it("a list is printed in one format", async () => {
  const { code, stderr } = await runAsGiven({}, "hold", "list", "--json", "-o", "csv");
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("cannot be used with option") });
});
