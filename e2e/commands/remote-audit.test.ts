/** Tests that an auditor verifies the log of the server, and not that of the database in the working directory. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Printed, objects, remoteEnvironment, runAsGiven, runWithBreakGlass } from "../support/command.ts";
import { connectAsOwner, sharedDatabase, type TestDatabase } from "../support/database.ts";
import { type CommandResult, runDrs, type ServerProcess, startServer } from "../support/server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let database: TestDatabase;
let environment: Record<string, string>;
let server: ServerProcess;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
/** The environment of an auditor, who also has another installation here. */
let auditor: Record<string, string>;
let here: Record<string, string>;

beforeAll(async () => {
  folder = await temporaryFolder();
  database = await sharedDatabase();
  environment = { ...(await database.environment()), DRS_ERASURE_JOURNAL: join(folder.path, "journal") };
  here = await database.environment();
  await (await startServer(here)).stop();
  server = await startServer(environment);
  const remote = await remoteEnvironment(environment, server.adminUrl, ["auditor"]);
  auditor = { ...here, ...remote };
});
afterAll(async () => {
  await server?.stop();
  await folder?.remove();
  await database?.close();
});

const audit = (...args: readonly string[]): Promise<Printed> => runAsGiven(auditor, "audit", ...args);

async function installationOf(of: Record<string, string>): Promise<string> {
  const owner = await connectAsOwner(of);
  const { rows } = await owner.query<{ installation_id: string }>("select installation_id from installation");
  await owner.end();
  return rows[0]?.installation_id ?? "";
}

const firstLine = ({ stderr }: CommandResult): string => stderr.split("\n", 1)[0] ?? "";

describe("an auditor who is signed in", () => {
  test("verifies the log of the server, which a worker does, and sees which installation it is", async () => {
    expect(await audit("checkpoint")).toMatchObject({ code: 0, stdout: expect.stringMatching(/^drs-audit\//) });
    const verified = await runDrs(auditor, ["audit", "verify"]);
    expect(firstLine(verified)).toBe(
      `Installation ${await installationOf(environment)}, the server at ${server.adminUrl}.`,
    );
    expect(verified.stdout.toString() + verified.stderr).toMatch(/The audit log holds: [1-9]\d* entr/);
    const [result] = objects((await audit("verify", "--json")).stdout);
    expect(result).toMatchObject({ installation: await installationOf(environment), findings: [] });
    const owner = await connectAsOwner(environment);
    const change = (ticket: string): Promise<{ rowCount: number | null }> =>
      owner.query(`update audit_entry set ticket = ${ticket} where operation = 'admin-token.issue'`);
    await owner.query("set session_replication_role = replica");
    expect((await change("'T-1'")).rowCount).toBeGreaterThan(0);
    expect((await audit("verify")).code).toBe(6);
    await change("null");
    await owner.end();
    expect([0, 3]).toContain((await audit("verify")).code);
  });

  test("compares checkpoints that they kept, and the key", async () => {
    const other = (await runWithBreakGlass(here, "audit", "key")).stdout.trim();
    expect((await audit("verify", "--key", other)).code).not.toBe(0);
    const own = (await audit("key")).stdout.trim();
    expect([0, 3]).toContain((await audit("verify", "--key", own, "--since", "2020-01-01T00:00:00Z")).code);
  });

  test("exports the log, proves an entry, and verifies both without the server", async () => {
    const file = join(folder.path, "audit.ndjson");
    expect(await audit("export", "--out", file)).toMatchObject({ code: 0 });
    const key = (await audit("key")).stdout.trim();
    expect([0, 3]).toContain((await runAsGiven({}, "audit", "verify", file, "--key", key)).code);
    const local = join(folder.path, "local.ndjson");
    await runWithBreakGlass(environment, "audit", "export", "--out", local);
    const linesOf = async (path: string) => (await readFile(path, "utf8")).split("\n").slice(1, 4);
    expect(await linesOf(file)).toEqual(await linesOf(local));
    const { stdout } = await audit("list", "--limit", "0", "--json");
    const entry = objects<{ entry_id: string; verified: boolean }>(stdout).find(({ verified }) => verified);
    const proof = await audit("proof", entry?.entry_id ?? "");
    expect(proof).toMatchObject({ code: 0, stdout: expect.stringMatching(/^c2sp.org\/tlog-proof@v1\n/) });
  });

  test("needs no other role, and another role does none of it", async () => {
    const other = { ...here, ...(await remoteEnvironment(environment, server.adminUrl, ["operator", "privacy"])) };
    for (const name of [["verify"], ["key"], ["checkpoint"], ["export", "--out", join(folder.path, "x")]]) {
      expect((await runAsGiven(other, "audit", ...name)).code, name[0]).toBe(1);
    }
  });

  test("does nothing to the stores of this host without --local", async () => {
    for (const name of [["epoch", "--reason", "a restore"], ["prune", "--yes"], ["switch-keys"]]) {
      const { code, stderr } = await audit(...name);
      expect({ code, stderr }, name[0]).toEqual({ code: 2, stderr: expect.stringContaining("add --local") });
      expect((await audit(...name, "--local")).stderr, name[0]).not.toContain("--local");
    }
  });

  test("migrates the stores of this host, and replays its journal, also without a token", async () => {
    const { DRS_ADMIN_TOKEN: _, ...withoutToken } = auditor;
    const migrated = await runDrs(withoutToken, ["migrate"]);
    expect(migrated).toMatchObject({ code: 0 });
    const line = new RegExp(`^Installation ${await installationOf(here)}, the database postgresql://.+\\.$`);
    expect(firstLine(migrated)).toMatch(line);
    const journal = { ...withoutToken, DRS_ERASURE_JOURNAL: join(folder.path, "here") };
    const replayed = await runDrs(journal, ["erase", "replay"]);
    expect(replayed).toMatchObject({ code: 0 });
    expect(firstLine(replayed)).toMatch(line);
  });
});
