import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { objects, type Printed, runAsGiven } from "../../../../e2e/support/command.ts";

const HOUR_MS = 3_600_000;
const inHours = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString();
const SESSION = {
  installation: "i-1",
  version: "9.9.9",
  person: "ann",
  // The name of another person, in which a quotation mark does not end it.
  name: 'bob", until \u202e',
  roles: ["operator", "privacy", "auditor"],
  via: "cli",
  expires_at: inHours(8),
  authenticated_at: inHours(-1),
};
const waiting = { state: "waiting", requested_by: "bob", obtained_by: null, needed_roles: ["privacy"] };
/** More rows than a page has by default. */
const newer = (row: object): readonly object[] => Array.from({ length: 60 }, () => row);
const ANSWERS: Readonly<Record<string, object>> = {
  "/admin/v1/session": SESSION,
  "/admin/v1/approvals": {
    approvals: [
      ...newer({ ...waiting, state: "used" }),
      waiting,
      { ...waiting, requested_by: "ann" },
      { ...waiting, obtained_by: "ann" },
      { ...waiting, needed_roles: ["investigator"] },
      { ...waiting, state: "used" },
    ],
  },
  "/admin/v1/requests": { requests: [{ overdue: true }, { overdue: false }] },
  "/admin/v1/cases": {
    cases: [
      ...newer({ opened_by: "ann", expires_at: inHours(8) }),
      { opened_by: "ann", expires_at: inHours(0.5) },
      { opened_by: "bob", expires_at: inHours(0.5) },
    ],
  },
  "/admin/v1/audit/reviews": { reviews: [{}, {}] },
  "/admin/v1/backups": {
    backups: [],
    stores: [
      { store: "events", taken_at: inHours(-50), age_seconds: 180_000, problem: "there was one each 24 hours before" },
      { store: "keys", taken_at: null, age_seconds: null, problem: null },
    ],
  },
};

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Runs `drs status` against a server that answers pages of `answers`, and not at all where there is none. */
async function status(
  answers: Readonly<Record<string, object>>,
  ...args: readonly string[]
): Promise<Printed & { readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://h");
    asked.push(pathname);
    const limit = Number(searchParams.get("limit") ?? 50);
    const page = (_: string, value: unknown): unknown => (Array.isArray(value) ? value.slice(0, limit) : value);
    const answer = answers[pathname];
    if (answer) response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(answer, page));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { ...(await runAsGiven({ DRS_ADMIN_URL: url, DRS_ADMIN_TOKEN: "t" }, "status", ...args)), url, asked };
}

it("drs status shows the server, the person, and what waits for them", async () => {
  const { code, stdout, url } = await status(ANSWERS);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `Installation  the server at ${url}
Found by      DRS_ADMIN_URL names it
Id            i-1
Version       9.9.9, and drs has 0.1.0
You           ann "bob\\", until \\u202e", until ${SESSION.expires_at}
Roles         operator, privacy, auditor
Backups       events: 2 days old, and there was one each 24 hours before
              keys: none is recorded (drs backup record --store keys)
Waiting       1 approval that you can give: drs approval list
              1 overdue request: drs request list
              1 case of yours within an hour of the end: drs case list --open
              2 open reviews: drs review list
`,
  });
});

it("drs status asks only what the roles may, because a server audits a denied call", async () => {
  const { stdout, asked } = await status(
    { ...ANSWERS, "/admin/v1/session": { ...SESSION, roles: ["investigator"] } },
    "--json",
  );
  expect(objects(stdout)).toMatchObject([{ rule: "setting", waiting: { ending_cases: 1, open_reviews: null } }]);
  expect(asked).not.toContain("/admin/v1/audit/reviews");
  expect(asked).not.toContain("/admin/v1/backups");
});

it("an admin token gives no approval", async () => {
  const { stdout } = await status({ ...ANSWERS, "/admin/v1/session": { ...SESSION, via: "api" } }, "--json");
  expect(objects(stdout)).toMatchObject([{ waiting: { approvals: 0, overdue_requests: 1 } }]);
});

it("drs status says that a server gives no answer in time", async () => {
  const { code, stdout, stderr, url } = await status({});
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining(`the server at ${url}\n`) });
  expect(stderr).toBe(`The admin API at ${url} gave no answer in time, and may still be working.\n`);
});

it("drs status says what to do if nothing is configured", async () => {
  const nowhere = { DRS_DATA_DIR: "/nowhere/data", DRS_KEY_DIR: "/nowhere/keys", DRS_ADMIN_PORT: "0" };
  const { code, stdout, stderr } = await runAsGiven(nowhere, "status");
  expect({ code, stdout }).toEqual({
    code: 4,
    stdout: expect.stringMatching(
      /^Installation {2}the embedded database in \/nowhere\/data\nFound by {6}the database here/,
    ),
  });
  expect(stderr).toMatch(
    /^drs login --url URL signs in to a server, drs serve starts one here\.\nthere is no database /,
  );
});
