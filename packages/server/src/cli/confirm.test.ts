import { Writable } from "node:stream";
import { expect, it } from "vitest";
import { contextWith } from "../../../../e2e/support/command.ts";
import { confirm } from "./confirm.ts";
import { installationLine, placeOf } from "./local.ts";

it("a question before a destruction names the installation, and hides its password", async () => {
  const sink = new Writable({ write: (_chunk, _encoding, done) => done() });
  const asked: string[] = [];
  const ask = async (question: string): Promise<string> => (asked.push(question), "yes");
  for (const environment of [
    {
      DRS_DATABASE_URL: "postgresql://drs:hunter2@db.example/drs",
      DRS_KEY_DIR: "/keys",
      DRS_KEY_ENCRYPTION_KEY_FILE: "/kek",
    },
    { DRS_DATA_DIR: "/data" },
    { DRS_ADMIN_URL: "https://admin.example", DRS_ADMIN_TOKEN: "t" },
  ]) {
    const context = { ...contextWith(environment, sink, sink), ask };
    await confirm(context, { what: "It ends.", yes: undefined, where: placeOf(context) });
  }
  expect(asked).toEqual([
    "It ends. This changes the database postgresql://drs:(set)@db.example/drs. Type yes to continue: ",
    "It ends. This changes the embedded database in /data. Type yes to continue: ",
    "It ends. This changes the server at https://admin.example. Type yes to continue: ",
  ]);
});

it("texts of other people control no terminal, and begin no line, before a destruction", async () => {
  const sink = new Writable({ write: (_chunk, _encoding, done) => done() });
  const asked: string[] = [];
  const ask = async (question: string): Promise<string> => (asked.push(question), "yes");
  const context = { ...contextWith({ DRS_DATA_DIR: "/data" }, sink, sink), ask };
  await confirm(context, { what: ["One.", "To \u001b[2K\nTwo."], yes: undefined, where: "the server at \u202ea" });
  expect(asked).toEqual(["One.\nTo \\u001b[2K\\u000aTwo. This changes the server at \\u202ea. Type yes to continue: "]);
  expect(installationLine(context, "a\nInstallation b")).toBe(
    "Installation a\\u000aInstallation b, the embedded database in /data.\n",
  );
});
