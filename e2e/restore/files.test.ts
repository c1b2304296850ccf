/**
 * Tests of backups that copy the files of the embedded database. After a restore, the journal says which events the
 * database must not contain.
 */
import { execFile } from "node:child_process";
import { cp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EmbeddedPostgres } from "../../packages/server/src/runtime/embedded-postgres/embedded-postgres.ts";
import { objects, type Printed, runWithBreakGlass } from "../support/command.ts";
import { type Home, makeHome, until } from "../support/embedded.ts";
import {
  type Environment,
  erase,
  expectErasureSurvivesRestore,
  listed,
  read,
  store,
  type Stored,
} from "../support/erase-and-restore.ts";
import { applyPeriod } from "../support/policy.ts";
import { issueCredentials, type ServerProcess, startServer } from "../support/server.ts";

const run = promisify(execFile);

describe("a server on restored files of the embedded database", () => {
  let home: Home;
  let environment: Environment;

  beforeEach(async () => {
    home = await makeHome();
    environment = { ...home.environment, DRS_ERASURE_JOURNAL: join(home.path, "journal") };
  });

  afterEach(() => home.remove());

  /** `cp -a` keeps modes and owners; PostgreSQL rejects folders with other modes or owners. */
  const copy = async (from: string, to: string): Promise<void> => void (await run("cp", ["-a", from, to]));

  const backUp = (folder: string) => async (): Promise<() => Promise<void>> => {
    await until(async () => (await home.postgres()).length === 0);
    await copy(folder, `${folder}.backup`);
    return async () => {
      await until(async () => (await home.postgres()).length === 0);
      await rm(folder, { recursive: true });
      await rename(`${folder}.backup`, folder);
    };
  };

  test("repeats the erasures that came after the backup: erased events are neither readable nor listed, and no other event is lost", async () => {
    await expectErasureSurvivesRestore(environment, backUp(home.dataDir), home.path);
  });

  test("destroys the erased secrets that an older key store has again, and does not start if the key store lacks other secrets", async () => {
    let server = await startServer(environment);
    const who = await issueCredentials(environment, "former");
    const stored = await store(server, who);
    await server.stop();
    const restore = await backUp(home.keyDir)();
    const secrets = async (folder: string): Promise<number> =>
      (await readdir(join(folder, "secrets"), { recursive: true })).filter((name) => name.length > 10).length;
    const secretsBefore = await secrets(home.keyDir);
    await erase(environment, "--account", "former");
    expect(await secrets(home.keyDir)).toBe(secretsBefore - 1);
    await restore();
    server = await startServer(environment);
    expect(server.stderr()).toContain("the key store lacked 1 erasure of the journal: secrets destroyed again");
    expect(await secrets(home.keyDir)).toBe(secretsBefore - 1);
    expect(await read(environment, stored)).toBeUndefined();

    const again = backUp(home.keyDir);
    await server.stop();
    const older = await again();
    server = await startServer(environment);
    const other = await store(server, await issueCredentials(environment, "new"));
    expect(await read(environment, other)).toBe(other.text);
    await server.stop();
    await older();
    await expect(startServer(environment)).rejects.toThrow(/older than the events/);
  });

  test("does not start with a journal that was cut short, was changed, or belongs to another installation", async () => {
    const journal = environment["DRS_ERASURE_JOURNAL"] ?? "";
    const server = await startServer(environment);
    const who = await issueCredentials(environment, "former");
    await store(server, who);
    await erase(environment, "--account", "former");
    await store(server, await issueCredentials(environment, "next"));
    await erase(environment, "--account", "next");
    await server.stop();
    const [folder = ""] = await readdir(journal);
    const [first = "", second = ""] = (await readdir(join(journal, folder))).map((name) => join(journal, folder, name));
    const refused = async (message: RegExp): Promise<void> => {
      await expect(startServer(environment)).rejects.toThrow(message);
    };
    await rename(second, `${second}.away`);
    await refused(/the database knows of entry 2.* ends at entry 1.*accept-loss --entry 2/);
    await cp(first, second);
    await refused(/entry 2 of the erasure journal is not in a known form/);
    await rm(second);
    await writeFile(second, '{"version":1,"seq');
    await refused(/entry 2 of the erasure journal is not readable/);
    await rm(second);
    await rename(`${second}.away`, second);
    const original = await readFile(first, "utf8");
    await writeFile(first, original.replace(/"keys":\["[\da-f]{8}/, '"keys":["00000000'));
    await refused(/entry 1 of the erasure journal was changed/);
    await writeFile(first, original);
    const elsewhere = { ...environment, DRS_ERASURE_JOURNAL: join(home.path, "elsewhere") };
    await expect(startServer(elsewhere)).rejects.toThrow(/the database knows of entry 2.*ends at entry 0/);
    await (await startServer(environment)).stop();
  });

  /** Stores one event for each of `count` new accounts. @returns the accounts and their events. */
  async function storeAccounts(server: ServerProcess, count: number): Promise<{ account: string; stored: Stored }[]> {
    const made: { account: string; stored: Stored }[] = [];
    for (let index = 1; index <= count; index++) {
      const account = `account-${index}`;
      made.push({ account, stored: await store(server, await issueCredentials(environment, account)) });
    }
    return made;
  }

  const entryFile = (sequence: number): string =>
    join(environment["DRS_ERASURE_JOURNAL"] ?? "", "000000", `${String(sequence).padStart(9, "0")}.json`);

  test("does not start with a gap in the journal, until the entry is back or its loss is accepted", async () => {
    let server = await startServer(environment);
    const accounts = await storeAccounts(server, 4);
    await server.stop();
    const restoreKeys = await backUp(home.keyDir)();
    const restoreDatabase = await backUp(home.dataDir)();
    for (const { account } of accounts) await erase(environment, "--account", account);
    await restoreDatabase();
    await restoreKeys();
    await rename(entryFile(2), `${entryFile(2)}.away`);
    const gap = /entry 2 of the erasure journal .* is missing: restore the journal.*accept-loss --entry 2/;
    await expect(startServer(environment)).rejects.toThrow(gap);
    const listing = await runWithBreakGlass(environment, "event", "list");
    expect([listing.code, listing.stdout]).toEqual([1, ""]);
    expect(listing.stderr).toMatch(gap);

    const accept = (entry: string): Promise<Printed> =>
      runWithBreakGlass(environment, "erase", "accept-loss", "--entry", entry, "--reason", "the disk failed", "--yes");
    expect(await accept("3")).toMatchObject({ code: 1, stderr: expect.stringContaining("say --entry 2") });
    expect(await accept("2")).toMatchObject({ code: 0, stderr: "" });
    server = await startServer(environment);
    expect(server.stderr()).toContain("the database lacked 3 erasures of the journal");
    // The loss of entry 2 was accepted, so the events that it erased are readable again.
    expect(await listed(environment)).toEqual([accounts[1]?.stored.eventId]);
    const doctor = await runWithBreakGlass(environment, "doctor");
    expect(doctor.stdout).toMatch(/^ok {4}erasures: .*the loss of entries 2 of the journal was accepted$/m);
    const audit = await runWithBreakGlass(environment, "audit", "list", "--json");
    const accepted = objects(audit.stdout).filter(({ operation }) => operation === "erase.accept-loss");
    expect(accepted).toMatchObject([{ reason: "the disk failed", detail: { entry: 2 } }]);
    await erase(environment, "--account", "account-2");
    expect(await listed(environment)).toEqual([]);
    await server.stop();
    await (await startServer(environment)).stop();
    expect(await accept("2")).toMatchObject({ code: 1, stderr: expect.stringContaining("is accepted already") });
  });

  test("does not start if the end of the journal is missing and the key store or a receipt knows a later entry", async () => {
    let server = await startServer(environment);
    const accounts = await storeAccounts(server, 2);
    await server.stop();
    const restoreKeys = await backUp(home.keyDir)();
    const restoreDatabase = await backUp(home.dataDir)();
    await erase(environment, "--account", accounts[0]?.account ?? "");
    const receipt = join(home.path, "receipt.jws");
    await erase(environment, "--account", accounts[1]?.account ?? "", "--receipt", receipt);
    await restoreDatabase();
    await rename(entryFile(2), `${entryFile(2)}.away`);
    await expect(startServer(environment)).rejects.toThrow(/the key store knows of entry 2 .*ends at entry 1/);
    await restoreKeys();
    const withReceipt = { ...environment, DRS_ERASURE_RECEIPT_FILE: receipt };
    await expect(startServer(withReceipt)).rejects.toThrow(/the receipt .*receipt.jws knows of entry 2/);
    await rename(`${entryFile(2)}.away`, entryFile(2));
    server = await startServer(withReceipt);
    expect(await listed(environment)).toEqual([]);
    await server.stop();
    await writeFile(receipt, "no receipt");
    await expect(startServer(withReceipt)).rejects.toThrow(/DRS_ERASURE_RECEIPT_FILE: .*did not sign/);
  });

  test("keeps the events of a hold that was placed after the backup", async () => {
    environment = { ...environment, DRS_RETENTION_INTERVAL: "1s" };
    let server = await startServer(environment);
    const [held, other, later] = await storeAccounts(server, 3);
    await server.stop();
    await applyPeriod(environment, home.path, "PT1S");
    const restoreDatabase = await backUp(home.dataDir)();
    const place = async (...subject: readonly string[]): Promise<string> => {
      const args = ["--reason", "dispute 4711", "--approver", "J. Doe", "--review", "2999-01-31", "--json"];
      const placed = await runWithBreakGlass(environment, "hold", "add", ...subject, ...args);
      expect(placed.code, placed.stderr).toBe(0);
      return String(objects(placed.stdout)[0]?.["hold_id"]);
    };
    const id = await place("--account", held?.account ?? "");
    const lifted = await place("--event", later?.stored.eventId ?? "");
    const ended = await runWithBreakGlass(environment, "hold", "lift", lifted, "--reason", "it is resolved", "--yes");
    expect(ended.code, ended.stderr).toBe(0);
    await restoreDatabase();
    server = await startServer(environment);
    expect(server.stderr()).toContain("the database lacked 3 orders about holds: applied again");
    await until(async () => (await withOwner(home, (owner) => owner.query("select from event"))).rowCount === 1);
    expect(await listed(environment)).toEqual([held?.stored.eventId]);
    expect(await read(environment, held?.stored as Stored)).toBe(held?.stored.text);
    expect(await read(environment, other?.stored as Stored)).toBeUndefined();
    const holds = objects((await runWithBreakGlass(environment, "hold", "list", "--json")).stdout);
    expect(holds.map(({ hold_id, lifted_at }) => [hold_id, lifted_at === null])).toEqual([
      [id, true],
      [lifted, false],
    ]);
    expect(holds[0]).toMatchObject({ account: held?.account, review_on: "2999-01-31", is_unresolved: false });
    await server.stop();
  });
});

/** Runs work as the owner of the tables of an embedded database, whether or not a server runs. */
async function withOwner<T>({ dataDir }: Home, work: (owner: pg.Client) => Promise<T>): Promise<T> {
  const embedded = await EmbeddedPostgres.open({ dataDir, asServer: false, onError: () => {} });
  const owner = new pg.Client({ ...embedded.owner, options: "-c search_path=drs -c timezone=UTC" });
  await owner.connect();
  try {
    return await work(owner);
  } finally {
    await owner.end();
    await embedded.close();
  }
}
