/** Tests of requests of data subjects, and of the export of everything that is stored about an account. */
import { createHash, randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TEXTS } from "../packages/server/src/lifecycle/requests/readable/texts/texts.ts";
import type { System } from "../packages/server/src/runtime/system.ts";
import { runWithBreakGlass, objects, type Printed } from "./support/command.ts";
import {
  AWAITED_LOCKS,
  connectAsOwner,
  type OwnerClient,
  sharedDatabase,
  type TestDatabase,
} from "./support/database.ts";
import { makeCredentials, openTestSystem } from "./support/parties.ts";
import { spawnDrs, startServer } from "./support/server.ts";
import { until } from "./support/embedded.ts";
import { Past, type PastEvent } from "./support/past-event.ts";

let database: TestDatabase;
let environment: Record<string, string>;
let system: System;
let owner: OwnerClient;
let past: Past;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "drs-requests-"));
  database = await sharedDatabase();
  environment = { ...(await database.environment()), DRS_ERASURE_JOURNAL: join(folder, "journal") };
  system = await openTestSystem(environment);
  owner = await connectAsOwner(environment);
  past = new Past(system);
  for (const account of ["a", "b", "c", "nothing-but-credentials"]) await makeCredentials(system, account);
});

afterAll(async () => {
  await past?.close();
  await owner?.end();
  await system?.close();
  await database?.close();
  await rm(folder, { recursive: true, force: true });
});

const drs = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(environment, ...args);

async function object(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await drs(...args, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return objects(stdout)[0] ?? {};
}

describe("a data request", () => {
  test.each([
    ["2026-01-31", "2026-02-28", "2026-04-30"],
    ["2024-01-31", "2024-02-29", "2024-04-30"],
    ["2026-03-15", "2026-04-15", "2026-06-15"],
  ])("of %s is due on %s, extended on %s", async (received, due, extended) => {
    const added = await object("request", "add", "--account", "a", "--kind", "access", "--received", received);
    expect(added).toMatchObject({ account: "a", due_at: `${due}T00:00:00.000Z`, closed_at: null });
    const id = String(added["request_id"]);
    const longer = await object("request", "extend", id, "--reason", "many at once");
    expect(longer).toMatchObject({ due_at: `${extended}T00:00:00.000Z`, extension_ground: "many at once" });
    expect(await drs("request", "extend", id, "--reason", "again")).toMatchObject({ code: 1, stdout: "" });
    await object("request", "close", id, "--outcome", "refused", "--reason", "no such person");
  });

  test("is overdue until it is closed: in the list, the doctor and the metrics", async () => {
    const added = await object("request", "add", "--account", "b", "--kind", "erasure", "--received", "2020-01-01");
    expect(added).toMatchObject({ overdue: true });
    const examined = await drs("doctor", "--json");
    expect(examined.code).toBe(1);
    expect(objects(examined.stdout).find(({ what }) => what === "requests")).toMatchObject({ ok: false });
    const server = await startServer({ ...environment, DRS_RETENTION_INTERVAL: "1s" });
    const metrics = async (): Promise<string> => (await fetch(`${server.adminUrl}/metrics`)).text();
    await until(async () => (await metrics()).includes("\ndrs_data_requests_overdue 1\n"));
    const id = String(added["request_id"]);
    const unknown = await drs("request", "close", id, "--outcome", "done");
    expect(unknown).toMatchObject({ code: 1, stdout: "" });
    expect(unknown.stderr).toContain("--identity");
    await past.store(0, { account: "b" });
    const { erasure_id } = await object("erase", "run", "--account", "b", "--reason", "request", "--yes");
    for (const link of ["--erasure", "--export"]) {
      const wrong = await drs(
        "request",
        "close",
        id,
        "--outcome",
        "done",
        "--identity",
        "passport",
        link,
        randomUUID(),
      );
      expect(wrong).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("There is no e") });
    }
    await past.store(0, { account: "another" });
    const foreign = await object("erase", "run", "--account", "another", "--reason", "request", "--yes");
    const crossed = ["--outcome", "done", "--identity", "passport", "--erasure", String(foreign["erasure_id"])];
    expect(await drs("request", "close", id, ...crossed)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("of another account"),
    });
    const closed = ["--outcome", "done", "--identity", "passport", "--erasure", String(erasure_id)];
    expect(await object("request", "close", id, ...closed)).toMatchObject({
      outcome: "done",
      erasure_id,
      account: null,
    });
    expect((await drs("doctor")).code).toBe(0);
    await until(async () => (await metrics()).includes("\ndrs_data_requests_overdue 0\n"));
    await server.stop();
    expect(await drs("request", "close", id, ...closed)).toMatchObject({ code: 1, stdout: "" });
    const [found] = objects((await drs("request", "list", "--account", "b", "--json")).stdout);
    expect(found).toMatchObject({ request_id: id, account: null, overdue: false });
    const { rows } = await owner.query<{ text: string }>(
      "select d::text as text from data_request d where request_id = $1",
      [id],
    );
    expect(rows[0]?.text).not.toMatch(/[,(]b[,)]/);
  });

  test("for an erasure is closed as partly done while a hold keeps some of the events, and as done when the hold has ended", async () => {
    const { eventId } = await past.store(0, { account: "kept" });
    const asked = ["--kind", "erasure", "--identity", "signed in"];
    const request = String((await object("request", "add", "--account", "kept", ...asked))["request_id"]);
    const close = (...args: readonly string[]): Promise<Printed> => drs("request", "close", request, ...args);
    const early = await close("--outcome", "done");
    expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining("The account still has 1 event:") });
    const placed = ["--reason", "dispute 4711", "--approver", "J. Doe", "--review", "2999-01-31"];
    const hold = String((await object("hold", "add", "--event", eventId, ...placed))["hold_id"]);
    const erased = await drs("erase", "run", "--account", "kept", "--reason", "request", "--yes", "--json");
    expect(erased.code).toBe(3);
    const erasure = String(objects(erased.stdout)[0]?.["erasure_id"]);
    const done = await close("--outcome", "done", "--erasure", erasure);
    expect(done).toMatchObject({ code: 1, stderr: expect.stringContaining("--outcome partly") });
    const partly = await object("request", "close", request, "--outcome", "partly", "--erasure", erasure);
    expect(partly).toMatchObject({ outcome: "partly", account: null, still_held: 1, completable: false });
    expect((await drs("doctor")).code).toBe(0);
    const tooEarly = await close("--outcome", "done");
    expect(tooEarly).toMatchObject({ code: 1, stderr: expect.stringContaining("still keeps 1 event ") });

    expect((await drs("hold", "lift", hold, "--reason", "it is resolved", "--yes")).code).toBe(0);
    const between = await close("--outcome", "done");
    expect(between).toMatchObject({ code: 1, stderr: expect.stringContaining("by the next retention pass") });
    expect((await drs("retention", "run")).code).toBe(0);
    const reminder = await drs("doctor");
    expect(reminder.code).toBe(1);
    expect(reminder.stdout).toMatch(/^FAIL {2}requests: .*closed partly, and no hold keeps anything of them: 1: /m);
    expect(objects((await drs("request", "list", "--json")).stdout)).toContainEqual(
      expect.objectContaining({ request_id: request, completable: true }),
    );
    const unused = { "--identity": "passport", "--export": randomUUID(), "--erasure": erasure, "--reason": "by phone" };
    for (const [option, value] of Object.entries(unused)) {
      const refused = await close("--outcome", "done", option, value);
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`without ${option}`) });
    }
    expect(await object("request", "close", request, "--outcome", "done")).toMatchObject({
      outcome: "done",
      completed_at: expect.any(String),
    });
    expect((await drs("doctor")).code).toBe(0);
  });

  describe("that is closed as done without naming what answered it", () => {
    const ask = async (account: string, kind: string): Promise<string> =>
      String(
        (await object("request", "add", "--account", account, "--kind", kind, "--identity", "passport"))["request_id"],
      );
    const erase = async (account: string): Promise<unknown> => {
      await past.store(0, { account });
      return (await object("erase", "run", "--account", account, "--reason", "request", "--yes"))["erasure_id"];
    };
    const exportAccount = async (account: string, ...more: readonly string[]): Promise<unknown> => {
      const out = join(folder, randomUUID());
      return (await object("account", "export", "--account", account, "--out", out, "--reason", "r", ...more))[
        "export_id"
      ];
    };
    const close = (id: string, ...more: readonly string[]): Promise<Printed> =>
      drs("request", "close", id, "--outcome", "done", ...more);

    test.each(["erasure", "objection", "restriction"])(
      "is linked to the erasure of the account since its receipt: %s",
      async (kind) => {
        const account = `answered-${kind}`;
        await erase(account);
        await past.store(0, { account });
        const request = await ask(account, kind);
        const before = kind === "erasure" ? "The account still has 1 event:" : "led to no restriction";
        expect(await close(request), "an earlier erasure").toMatchObject({
          code: 1,
          stderr: expect.stringContaining(before),
        });
        await erase(`another-${kind}`);
        expect(await close(request), "an erasure of another account").toMatchObject({ code: 1 });
        const erasure = await erase(account);
        expect(await close(request, "--dry-run", "--json")).toMatchObject({
          code: 0,
          stdout: expect.stringContaining(String(erasure)),
        });
        expect(await close(request)).toMatchObject({
          code: 0,
          stdout: `Request ${request} is closed: done, erasure ${String(erasure)}.\n`,
        });
      },
    );

    test.each(["access", "portability"])(
      "is linked to the export of the account since its receipt: %s",
      async (kind) => {
        const account = `exported-${kind}`;
        await past.store(0, { account });
        await exportAccount(account);
        const request = await ask(account, kind);
        expect(await close(request), "an earlier export").toMatchObject({
          code: 1,
          stderr: expect.stringContaining("led to no export"),
        });
        const exported = await exportAccount(account);
        const [closed] = objects((await close(request, "--json")).stdout);
        expect(closed).toMatchObject({ outcome: "done", export_id: exported, erasure_id: null });
      },
    );

    test("is wrong usage that lists the candidates if there are several, one of which can be named", async () => {
      await past.store(0, { account: "often" });
      const request = await ask("often", "erasure");
      const erasures = [await erase("often"), await erase("often")];
      const asked = await close(request);
      expect(asked).toMatchObject({ code: 2, stdout: "" });
      for (const text of [...erasures, "name one with --erasure."]) expect(asked.stderr).toContain(text);
      const [closed] = objects((await close(request, "--erasure", String(erasures[0]), "--json")).stdout);
      expect(closed).toMatchObject({ erasure_id: erasures[0] });

      await past.store(0, { account: "often" });
      const access = await ask("often", "access");
      const exports = [await exportAccount("often"), await exportAccount("often")];
      const which = await close(access);
      expect(which).toMatchObject({ code: 2, stdout: "" });
      for (const text of [...exports, "name one with --export."]) expect(which.stderr).toContain(text);
      const own = await exportAccount("often", "--request", access);
      expect(objects((await close(access, "--json")).stdout), "it was made for the request").toMatchObject([
        { export_id: own },
      ]);
    });

    test("needs no export of an account without data, and nothing for a correction", async () => {
      await drs("request", "add", "--account", "never-seen", "--kind", "access", "--identity", "passport");
      const [request] = objects((await drs("request", "list", "--account", "never-seen", "--json")).stdout);
      expect(await close(String(request?.["request_id"]))).toMatchObject({ code: 0 });
      expect(await close(await ask("often", "rectification"))).toMatchObject({ code: 0 });
    });
  });

  test("is not recorded by a dry run", async () => {
    const count = async (): Promise<number> => (await owner.query("select from data_request")).rowCount ?? 0;
    const before = await count();
    await object("request", "add", "--account", "c", "--kind", "access", "--dry-run");
    expect(await count()).toBe(before);
  });

  test.each([
    ["no account", ["add", "--kind", "access"]],
    ["no kind", ["add", "--account", "a"]],
    ["another kind", ["add", "--account", "a", "--kind", "revenge"]],
    ["a day that is no day", ["add", "--account", "a", "--kind", "access", "--received", "2026-02-30"]],
    ["tomorrow", ["add", "--account", "a", "--kind", "access", "--received", "2999-01-01"]],
    ["partly done without an erasure", ["close", "0190a0b0-0000-7000-8000-000000000000", "--outcome", "partly"]],
    ["refused without a ground", ["close", "0190a0b0-0000-7000-8000-000000000000", "--outcome", "refused"]],
  ])("with %s is wrong usage", async (_, args) => {
    expect(await drs("request", ...args)).toMatchObject({ code: 2, stdout: "" });
  });

  test("can't be changed by the serving role", async () => {
    await expect(system.pool.query("delete from data_request")).rejects.toMatchObject({ code: "42501" });
    await expect(system.pool.query("update data_request set ground = 'x'")).rejects.toMatchObject({ code: "42501" });
  });
});

test("a list of requests is audited with the keyed MAC of the account that it names", async () => {
  await makeCredentials(system, "listed");
  await object("request", "add", "--account", "listed", "--kind", "access");
  const listed = await drs("request", "list", "--account", "listed", "--json");
  expect(objects(listed.stdout)).toHaveLength(1);
  const [entry] = objects((await drs("audit", "list", "--limit", "1", "--json")).stdout);
  expect(entry).toMatchObject({
    operation: "request.list",
    outcome: "done",
    account: null,
    detail: { count: 1, subject_mac: system.pseudonymizer.subjectOf("account", "listed").toString("hex") },
  });
});

test("the audit entries of an erased account end with its erasure and the receipt", async () => {
  const { account } = await makeCredentials(system, "ended");
  await past.store(0, { account });
  const list = ["audit", "list", "--account", account];
  expect((await drs(...list)).stdout, "nothing was erased").not.toContain("Erasure");
  const { erasure_id } = await object("erase", "run", "--account", account, "--reason", "request 4711", "--yes");
  const [entry, begun, ...earlier] = objects((await drs(...list, "--json")).stdout);
  expect([entry, begun]).toMatchObject([
    { operation: "erase.run", outcome: "done", account, reason: "request 4711" },
    { operation: "erase.run", outcome: "begun", account },
  ]);
  const { receipt } = await object("receipt", "get", String(erasure_id));
  expect(earlier.at(-1)).toEqual({
    erasure_id,
    kind: "account",
    began_at: expect.any(String) as string,
    finished_at: expect.any(String) as string,
    receipt,
  });
  const shown = (await drs(...list, "--limit", "1")).stdout.trimEnd().split("\n");
  expect(shown.at(-1), "with any limit").toMatch(
    new RegExp(`^Erasure of the account: ${String(erasure_id)}, finished .*; drs receipt get ${String(erasure_id)}$`),
  );
  await past.store(0, { account: "not-erased" });
  expect((await drs("audit", "list", "--account", "not-erased", "--json")).stdout).not.toContain(String(erasure_id));
});

describe("a request of an account without data", () => {
  test("is recorded with a warning, and from then on the account is known", async () => {
    const add = ["request", "add", "--account", "unheard-of", "--kind", "access", "--json"];
    const tried = await drs(...add, "--dry-run");
    expect(tried).toMatchObject({ code: 0, stderr: "Nothing is stored about this account: check the spelling.\n" });
    const added = await drs(...add);
    expect(added).toMatchObject({ code: 0, stderr: tried.stderr });
    expect(objects(added.stdout)).toMatchObject([{ account: "unheard-of" }]);
    expect(await drs(...add)).toMatchObject({ code: 0, stderr: "" });
  });

  test("is not exported, because only the request is known", async () => {
    await drs("request", "add", "--account", "unheard-of-too", "--kind", "access");
    const out = join(folder, "only-requested");
    const exported = await drs("account", "export", "--account", "unheard-of-too", "--out", out, "--reason", "r");
    expect(exported).toMatchObject({ code: 1, stdout: "" });
    expect(exported.stderr).toContain("Nothing is stored about this account but its requests");
    expect(await readdir(folder)).not.toContain("only-requested");
  });

  test("is recorded without a warning if the account was erased before", async () => {
    const { account } = await makeCredentials(system, "erased-before");
    expect((await drs("erase", "run", "--account", account, "--reason", "r", "--yes")).code).toBe(0);
    const added = await drs("request", "add", "--account", account, "--kind", "access", "--json");
    expect(added).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("the export of an account", () => {
  test("has everything of the account, exact bytes included, and nothing of another account", async () => {
    const who = await makeCredentials(system, "exported");
    const mine: PastEvent[] = [];
    for (let count = 0; count < 30; count++) mine.push(await past.store(count % 20, { account: "exported" }));
    await past.store(1, { account: "another-customer" });
    await drs("event", "get", mine[0]?.eventId ?? "", "--raw", "--reason", "a look");
    await object("request", "add", "--account", "exported", "--kind", "access");
    const placed = ["--reason", "a secret dispute", "--approver", "J. Doe", "--review", "2999-01-31"];
    await object("hold", "add", "--account", "exported", ...placed);
    const out = join(folder, "export");
    await mkdir(out, { mode: 0o755 });
    const manifest = await object("account", "export", "--account", "exported", "--out", out, "--reason", "request 17");
    expect(JSON.parse(await readFile(join(out, "manifest.json"), "utf8"))).toEqual(manifest);
    expect((await stat(out)).mode & 0o777).toBe(0o700);
    for (const { eventId, exact } of mine) {
      expect(await readFile(join(out, "events", `${eventId}.json`), "utf8")).toBe(exact);
    }
    expect(await readdir(join(out, "events"))).toHaveLength(mine.length);
    const rows = async (name: string) => objects(await readFile(join(out, name), "utf8"));
    expect((await rows("events.ndjson")).map(({ event_id }) => event_id).toSorted()).toEqual(
      mine.map(({ eventId }) => eventId).toSorted(),
    );
    expect((await rows("events.ndjson"))[0]).toMatchObject({ account: "exported", purpose: "default" });
    expect(await rows("idempotency-keys.ndjson")).toHaveLength(mine.length);
    expect(await rows("actions.ndjson")).toMatchObject([{ action_id: who.actionId }]);
    expect(await rows("tokens.ndjson")).toHaveLength(1);
    expect(await rows("requests.ndjson")).toMatchObject([{ kind: "access", outcome: null, identity: null }]);
    expect(manifest).toMatchObject({ refused: false });
    const accesses = await rows("accesses.ndjson");
    expect(accesses).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ operation: "event.read_raw", reason: "a look", event_id: mine[0]?.eventId }),
        expect.objectContaining({ operation: "account.export", reason: "request 17" }),
      ]),
    );
    for (const { name, sha256, bytes } of manifest["files"] as { name: string; sha256: string; bytes: number }[]) {
      const content = await readFile(join(out, name));
      expect([createHash("sha256").update(content).digest("hex"), content.length]).toEqual([sha256, bytes]);
      expect(content.includes("another-customer")).toBe(false);
      expect(content.includes("a secret dispute"), "an export must not show holds").toBe(false);
      expect(content.includes(who.token)).toBe(false);
    }
  });

  test("has pages for the person, in a language", async () => {
    const { account } = await makeCredentials(system, "reader");
    const probes = { hardware: { status: "success", data: { isLowMemory: false } }, fonts: { status: "timeout" } };
    await past.store(1, { account }, JSON.stringify({ session_id: "s", probes }));
    const out = join(folder, "readable");
    const args = ["account", "export", "--account", account, "--out", out, "--reason", "r", "--language"];
    expect(await drs(...args, "fr")).toMatchObject({ code: 2, stdout: "" });
    const { stdout } = await drs(...args, "de");
    expect(stdout).toMatch(
      / 1 in events\.ndjson, .*\nFor the person: index\.html, .*\nletter\.txt is NOT ready .* \d+ parts in .*\n$/,
    );
    expect(await readdir(out)).toEqual(expect.arrayContaining(["events", "index.html", "letter.txt", "manifest.json"]));
    const page = await readFile(join(out, "index.html"), "utf8");
    for (const said of [
      "Dem Gerät fehlte Arbeitsspeicher",
      "<code><bdi>isLowMemory</bdi></code><dd>nein",
      TEXTS.de.states.timeout,
      TEXTS.de.purposes.noEnd,
    ]) {
      expect(page).toContain(said);
    }
    expect(await readFile(join(out, "letter.txt"), "utf8")).toContain(`(Konto ${account})`);
    const { files } = JSON.parse(await readFile(join(out, "manifest.json"), "utf8")) as { files: { name: string }[] };
    const described = Object.keys(TEXTS.de.files.list);
    expect(described.toSorted(), "the page describes each file").toEqual(
      files.flatMap(({ name }) => (name.endsWith(".ndjson") ? [name] : [])).toSorted(),
    );
  });

  test("that is killed has no overview and no manifest, and is repeated in another folder", async () => {
    const { account } = await makeCredentials(system, "killed");
    await past.store(1, { account });
    const [out, again] = [join(folder, "killed"), join(folder, "killed-again")];
    const args = ["account", "export", "--account", account, "--reason", "request 17", "--out"];
    await owner.query("begin");
    // The export reads the features after the events.
    await owner.query("lock table feature_row in access exclusive mode");
    const child = spawnDrs(environment, [...args, out]);
    const ended = new Promise((resolve) => child.once("close", resolve));
    await until(async () => (await owner.query(`select ${AWAITED_LOCKS} and locktype <> 'advisory'`)).rowCount !== 0);
    child.kill("SIGKILL");
    await ended;
    await owner.query("rollback");
    expect(await readdir(join(out, "events"))).toHaveLength(1);
    const before = ["purposes", "periods", "requests", "restrictions", "exports", "events", "features"];
    expect(await readdir(out)).toEqual(["events", ...before.map((name) => `${name}.ndjson`)].toSorted());
    expect(await drs(...args, out)).toMatchObject({ code: 1, stderr: expect.stringContaining("not empty") });
    expect(await drs(...args, again)).toMatchObject({ code: 0 });
    const accesses = objects(await readFile(join(again, "accesses.ndjson"), "utf8"));
    expect(
      accesses.filter(({ operation }) => operation === "account.export"),
      "the killed one is recorded, too",
    ).toHaveLength(2);
  });

  test("is not written into a folder that has files", async () => {
    const out = join(folder, "taken");
    const account = "nothing-but-credentials";
    await object("account", "export", "--account", account, "--out", out, "--reason", "r");
    expect(await readFile(join(out, "events.ndjson"), "utf8")).toBe("");
    const again = await drs("account", "export", "--account", account, "--out", out, "--reason", "r");
    expect(again).toMatchObject({ code: 1, stdout: "" });
    expect(again.stderr).toContain("not empty");
    const file = join(folder, "file");
    await writeFile(file, "");
    const onFile = await drs("account", "export", "--account", account, "--out", file, "--reason", "r");
    expect(onFile).toMatchObject({ code: 1, stdout: "" });
  });

  test("fails for an account without data, and writes nothing", async () => {
    const out = join(folder, "mistyped");
    // Listing its events does not make an account known.
    await drs("event", "list", "--account", "mistyped");
    const exported = await drs("account", "export", "--account", "mistyped", "--out", out, "--reason", "r");
    expect(exported).toMatchObject({ code: 1, stdout: "" });
    expect(exported.stderr).toContain("Nothing is stored about this account");
    expect(await readdir(folder)).not.toContain("mistyped");
    const audited = objects((await drs("audit", "list", "--account", "mistyped", "--json")).stdout);
    expect(audited.map(({ operation }) => operation)).toEqual(["event.list"]);
  });
});
