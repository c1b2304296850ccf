/**
 * Tests of the commands of the audit log: `drs audit checkpoint`, `verify`, `export`, `proof`, `key`, `prune` and
 * `epoch`.
 */
import { execFile } from "node:child_process";
import { appendFile, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { objects, runWithBreakGlass, type Printed } from "./support/command.ts";
import { connectAsOwner, sharedDatabase, type TestDatabase } from "./support/database.ts";
import { serveTimeStamps } from "./support/time-stamp-authority.ts";

let database: TestDatabase;
let environment: Record<string, string>;
let folder: string;
let exportFile: string;
let checkpointFile: string;

const drs = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(environment, ...args);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "drs-audit-log-"));
  database = await sharedDatabase();
  const journal = join(folder, "journal");
  const checkpoints = join(folder, "checkpoints");
  environment = {
    ...(await database.environment()),
    DRS_ERASURE_JOURNAL: journal,
    DRS_AUDIT_CHECKPOINTS: checkpoints,
  };
  exportFile = join(folder, "audit.ndjson");
  checkpointFile = join(folder, "kept.note");
  for (const account of ["one", "two", "three"])
    expect(await drs("token", "issue", "--account", account)).toMatchObject({ code: 0 });
  const { code, stdout, stderr } = await drs("audit", "checkpoint");
  expect(code, stderr).toBe(0);
  await writeFile(checkpointFile, stdout);
  expect(await drs("audit", "export", "--out", exportFile)).toMatchObject({ code: 0 });
});

afterAll(async () => {
  await database?.close();
  await rm(folder, { recursive: true });
});

const verify = async (...args: readonly string[]): Promise<Record<string, unknown> & { code: number }> => {
  const { code, stdout } = await drs("audit", "verify", ...args, "--json");
  return { ...objects(stdout)[0], code };
};

describe("drs audit verify", () => {
  test("confirms the database by the checkpoints that the journal and the directory keep", async () => {
    expect(await verify()).toMatchObject({ code: 0, verdict: 0, findings: [] });
    expect(await verify("--checkpoint", checkpointFile)).toMatchObject({ code: 0 });
    const { stdout } = await drs("audit", "verify");
    expect(stdout).toMatch(
      /^The audit log holds: (\d+) entries, of which checkpoints kept outside confirm \1; 0 more wait/,
    );
  });

  test("verifies an export without the database and the key store", async () => {
    const key = (await drs("audit", "key")).stdout.trim();
    const nowhere = { DRS_DATA_DIR: join(folder, "nothing"), DRS_KEY_DIR: join(folder, "nothing") };
    const away = async (...args: readonly string[]): Promise<Printed> =>
      runWithBreakGlass(nowhere, "audit", "verify", exportFile, "--key", key, ...args);
    expect(await away("--checkpoint", checkpointFile)).toMatchObject({ code: 0, stderr: "" });
    expect(await away()).toMatchObject({ code: 3, stderr: expect.stringContaining("holds") as string });
    const other = key.replace("drs-audit/", "drs-other/");
    expect(await runWithBreakGlass(nowhere, "audit", "verify", exportFile, "--key", other)).toMatchObject({ code: 1 });
  });

  test("says which sink is outdated or can't be reached, and verifies by the other sinks", async () => {
    const sinks = async (checkpoints: string): Promise<unknown> => {
      const asked = { ...environment, DRS_AUDIT_CHECKPOINTS: checkpoints };
      const { stdout } = await runWithBreakGlass(asked, "audit", "verify", "--json");
      return objects<{ sinks: unknown }>(stdout)[0]?.sinks;
    };
    const [journal, file] = [
      { name: "the erasure journal", state: "current" },
      { name: "the directory of DRS_AUDIT_CHECKPOINTS", state: "behind", size: 0 },
    ];
    expect(await sinks(join(folder, "new"))).toMatchObject([journal, file]);
    expect(await sinks(exportFile)).toMatchObject([journal, { ...file, state: "away" }]);
    const { stdout } = await runWithBreakGlass(
      { ...environment, DRS_AUDIT_CHECKPOINTS: exportFile },
      "audit",
      "verify",
    );
    expect(stdout).toMatch(/^sink away: the directory of DRS_AUDIT_CHECKPOINTS/);
  });

  test("verifies only the entries after a given time", async () => {
    const before = await verify("--since", "2020-01-01");
    expect(before).toMatchObject({ code: 0, from: 0 });
    const later = new Date(Date.now() + 60_000).toISOString();
    expect(await verify("--since", later)).toMatchObject({ code: 0, from: before["size"], size: before["size"] });
    expect((await drs("audit", "verify", "--since", later)).stdout).toMatch(
      /entries, verified after the first \d+, of/,
    );
    expect((await drs("audit", "verify", exportFile, "--since", later)).code).toBe(1);
  });

  test("reports what is wrong with an export, and exits with code 6", async () => {
    const lines = (await readFile(exportFile, "utf8")).trimEnd().split("\n");
    const forged = join(folder, "forged.ndjson");
    await writeFile(forged, `${lines.filter((_, index) => index !== 2).join("\n")}\n`);
    const { code, stdout } = await drs("audit", "verify", forged);
    expect(code).toBe(6);
    expect(stdout).toContain("removed: Leaves 1 to 1 are missing.");
    await writeFile(forged, "no export\n");
    expect((await drs("audit", "verify", forged)).code).toBe(1);
  });

  test("verifies the database with a key from the caller while the key store is away", async () => {
    const key = (await drs("audit", "key")).stdout.trim();
    const keys = environment["DRS_KEY_DIR"] ?? "";
    await rename(keys, `${keys}.away`);
    try {
      expect((await drs("audit", "verify")).code).toBe(1);
      expect(await verify("--key", key)).toMatchObject({ code: 0, verdict: 0 });
    } finally {
      await rename(`${keys}.away`, keys);
    }
  });

  test("finds a row that was changed in the database", async () => {
    const owner = await connectAsOwner(environment);
    const change = async (operation: string, to: string): Promise<void> => {
      await owner.query("set session_replication_role = replica");
      await owner.query("update audit_entry set operation = $2 where operation = $1", [operation, to]);
    };
    await change("token.issue", "token.list");
    const { code, stdout } = await drs("audit", "verify");
    await change("token.list", "token.issue");
    await owner.end();
    expect(code).toBe(6);
    expect(stdout).toContain("are not those of its record: operation.");
    expect(await verify()).toMatchObject({ code: 0 });
  });

  test("finds an entry of new MAC keys that was inserted into the database", async () => {
    const owner = await connectAsOwner(environment);
    const columns = `at, actor, via, outcome, occurrences, record, mac`;
    const id = "019a8f00-0000-7abc-8def-000000000001";
    await owner.query(
      `insert into audit_entry (entry_id, operation, ${columns}) select $1, 'audit.keys', ${columns} from audit_entry limit 1`,
      [id],
    );
    const { code, stdout } = await drs("audit", "verify");
    await owner.query("set session_replication_role = replica");
    await owner.query("delete from audit_entry where entry_id = $1", [id]);
    await owner.end();
    expect(code).toBe(6);
    expect(stdout).toMatch(/an entry that is in no leaf .* are not those of its record: entry_id, operation/);
  });
});

test("drs audit proof prints the proof of a logged entry, and fails for an unknown entry", async () => {
  const [entry] = objects<{ entry_id: string }>((await drs("audit", "list", "--account", "one", "--json")).stdout);
  const { code, stdout } = await drs("audit", "proof", entry?.entry_id ?? "");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^c2sp\.org\/tlog-proof@v1\nindex 0\n/);
  expect(stdout.endsWith(await readFile(checkpointFile, "utf8"))).toBe(true);
  expect((await drs("audit", "proof", "00000000-0000-0000-0000-000000000000")).code).toBe(1);
});

/** Closes the review as the person who caused it, because these tests have no other person. */
const closeAlone = (...args: readonly string[]): ReturnType<typeof drs> =>
  runWithBreakGlass({ ...environment, DRS_APPROVALS: "off" }, "review", "close", ...args);

test("an erasure makes the account's reasons and details unreadable once their review is closed, and the log is still intact", async () => {
  environment = { ...environment, DRS_AUDIT_REASON_RETENTION: "0s" };
  type Listed = { readonly entry_id: string; readonly operation: string };
  // The erasure belongs to no account, so its own entries stay readable.
  const listed = async (): Promise<readonly Listed[]> =>
    objects<Listed>((await drs("audit", "list", "--account", "one", "--json")).stdout).filter(
      ({ operation }) => operation === "token.issue",
    );
  const pass = async (): Promise<number> => (await drs("retention", "run")).code;
  const readable = { operation: "token.issue", detail: { token_id: expect.any(String) as string }, unreadable: false };
  expect(await listed()).toMatchObject([readable]);
  const [entry] = await listed();
  const reason = ["--reason", "request 17"];
  const review = await drs("review", "open", entry?.entry_id ?? "", ...reason, "--json");
  const review_id = objects<{ review_id: string }>(review.stdout)[0]?.review_id ?? "";
  expect(objects((await drs("review", "list", "--json")).stdout)).toMatchObject([{ review_id }]);
  expect(await drs("erase", "run", "--account", "one", ...reason, "--yes")).toMatchObject({ code: 0 });
  expect(await pass()).toBe(0);
  expect(await listed()).toMatchObject([readable]);
  expect(await closeAlone(review_id, ...reason)).toMatchObject({ code: 0 });
  expect(await pass()).toBe(0);
  expect(await listed()).toMatchObject([{ operation: "token.issue", detail: null, unreadable: true }]);
  await drs("audit", "checkpoint");
  expect(await verify("--checkpoint", checkpointFile)).toMatchObject({ code: 0, findings: [] });
});

test("the commands of the docs get a time stamp for a checkpoint, and fail if it is of another query", async () => {
  const docs = await readFile(new URL("../docs/privacy/audit.md", import.meta.url), "utf8");
  const [, get = "", verifyLater = ""] = /## Time stamps.*?```sh\n(.*?)```.*?```sh\n(.*?)```/s.exec(docs) ?? [];
  const authority = await serveTimeStamps(await mkdtemp(join(folder, "authority-")));
  const run = (commands: string): Promise<unknown> => {
    const env = { ...process.env, ...environment, AUTHORITY: authority.url };
    return promisify(execFile)("sh", ["-ec", commands], { cwd: authority.folder, env });
  };
  await run(get);
  const name = (await readdir(authority.folder)).find((file) => file.endsWith(".tsr"))?.slice(0, -4) ?? "";
  const checkpoint = join(authority.folder, `${name}.checkpoint`);
  const [opensslVerify = ""] = verifyLater.split("\n");
  await run(opensslVerify.replaceAll("2027-01-31T08", name));
  expect(await verify("--checkpoint", checkpoint)).toMatchObject({ code: 0, findings: [] });
  authority.repeat = await readFile(join(authority.folder, `${name}.tsr`));
  await expect(run(get)).rejects.toThrow("nonce mismatch");
  await appendFile(checkpoint, "\n");
  await expect(run(opensslVerify.replaceAll("2027-01-31T08", name))).rejects.toThrow("message imprint mismatch");
  await authority.close();
});

test.each(["730d", "30d"])("drs audit prune deletes no entry that is younger than %s", async (period) => {
  const limited = { ...environment, ...(period !== "730d" && { DRS_AUDIT_RETENTION: period }) };
  const { code, stdout } = await runWithBreakGlass(limited, "audit", "prune", "--yes", "--json");
  expect([code, objects(stdout)]).toEqual([0, [{ entries: 0 }]]);
});

test("drs audit epoch continues the log of a restored database, and the new epoch is reported until it is reviewed", async () => {
  const reason = ["--reason", "restore of yesterday"];
  expect(await drs("audit", "epoch", ...reason)).toMatchObject({ code: 1 });
  const owner = await connectAsOwner(environment);
  await owner.query("set session_replication_role = replica");
  await owner.query("delete from audit_checkpoint where size = (select max(size) from audit_checkpoint)");
  const lost = "select entry_id from audit_leaf where leaf >= (select max(size) from audit_checkpoint)";
  await owner.query(`delete from audit_entry where entry_id in (${lost})`);
  await owner.query(`delete from audit_leaf where entry_id in (${lost})`);
  await owner.end();
  expect(await drs("audit", "checkpoint")).toMatchObject({ code: 6 });
  expect(await verify()).toMatchObject({ code: 6, findings: [{ kind: "truncated" }, {}] });
  const [{ review_id } = { review_id: "" }] = objects<{ review_id: string }>(
    (await drs("audit", "epoch", ...reason, "--json")).stdout,
  );
  expect(await verify("--checkpoint", checkpointFile)).toMatchObject({ code: 6, findings: [{ kind: "restored" }] });
  expect(await closeAlone(review_id, ...reason)).toMatchObject({ code: 0 });
  expect(await drs("audit", "checkpoint")).toMatchObject({ code: 0, stdout: expect.stringMatching(/\/2\n/) as string });
  expect(await verify("--checkpoint", checkpointFile)).toMatchObject({ code: 0, findings: [] });
});
