/**
 * Demonstrates the lifecycle of an account of `drs demo`, with the server and the commands that an operator uses. Each
 * line states a result, and the program fails if the result is different. With `--remote`, commands go through the
 * server's admin API. With `--on FOLDER`, it uses a copy of the demo in this folder, and fills none.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { authorized, send, transport, type Reply, type Transport } from "../../e2e/support/client.ts";
import { runWithBreakGlass, objects, PRIVACY } from "../../e2e/support/command.ts";
import { makeEmptyHome, until } from "../../e2e/support/embedded.ts";
import { type Credentials, type ServerProcess, startServer } from "../../e2e/support/server.ts";
import { POLICY } from "../../packages/server/src/cli/demo/story.ts";

const { values: given } = parseArgs({ options: { remote: { type: "boolean" }, on: { type: "string" } } });
/** A paying customer of the demo, and another one. */
const ALICE = "customer-3";
const BOB = "customer-13";

const home = await makeEmptyHome();
const folder = await mkdtemp(join(tmpdir(), "drs-demo-"));
const environment = {
  ...home.environment,
  DRS_RETENTION_INTERVAL: "24h",
  DRS_KEY_BACKUP_RETENTION: "7d",
  DRS_BACKUP_RETENTION: "30d",
};
/** Variables that commands get while a server runs. With `--remote`, they name its admin API. */
let remote: Readonly<Record<string, string>> = {};
let shownCount = 0;

function show(what: string, holds: boolean): void {
  if (!holds) throw new Error(`the result is different: ${what}`);
  process.stdout.write(`  ✓ ${what}\n`);
  shownCount++;
}

const title = (text: string): void => void process.stdout.write(`\n${text}\n`);

/** The arguments of a line as a shell reads them: quotes keep words together. */
const argumentsOf = (line: string): string[] =>
  (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ""));

/** Runs a command without printing it. Through the admin API, an export of an account needs a data request. */
async function run(line: string, expected = 0): Promise<string> {
  const variables = { ...environment, ...(!line.startsWith("account export") && remote) };
  const { code, stdout, stderr } = await runWithBreakGlass(variables, ...argumentsOf(line));
  if (code !== expected) throw new Error(`drs ${line}: exit ${code}, not ${expected}: ${stderr}`);
  return stdout;
}

async function drs(line: string, expected = 0): Promise<string> {
  process.stdout.write(`  $ drs ${line}\n`);
  return await run(line, expected);
}

const json = async <T>(line: string, expected = 0): Promise<T> =>
  objects<T>(await drs(`${line} --json`, expected))[0] as T;

interface Stored {
  readonly id: string;
  readonly exact: string;
  readonly request: { readonly headers: Record<string, string>; readonly body: string };
}

async function store(server: ServerProcess, who: Credentials): Promise<Stored> {
  const body: Transport = transport(who);
  const request = { headers: authorized(who), body: JSON.stringify(body) };
  const reply: Reply = await send({ url: server.url, ...request });
  if (reply.status !== 201) throw new Error(`${reply.status}: ${reply.text}`);
  return { id: String(reply.json["event_id"]), exact: JSON.stringify(body.observations), request };
}

/** Reads on the database here, in the role of a privacy officer. */
const read = (line: string) => runWithBreakGlass(environment, ...argumentsOf(line), ...PRIVACY);

async function exactBytes({ id }: Stored): Promise<string | undefined> {
  const { code, stdout } = await read(`event get ${id} --raw`);
  return code === 0 ? stdout : undefined;
}

const listed = async (account: string): Promise<unknown[]> =>
  objects((await read(`event list --account ${account} --limit 0 --json`)).stdout).map(({ event_id }) => event_id);

async function party(account: string, types: readonly string[]): Promise<Credentials[]> {
  const { token } = JSON.parse(await run(`token issue --account ${account} --json`)) as { token: string };
  const sessionId = `session-of-${account}`;
  return await Promise.all(
    types.map(async (actionType) => {
      const line = `action register --account ${account} --type ${actionType} --session ${sessionId} --json`;
      const { action_id } = JSON.parse(await run(line)) as { action_id: string };
      return { account, token, actionId: action_id, actionType, sessionId };
    }),
  );
}

async function start(): Promise<ServerProcess> {
  const server = await startServer(environment);
  if (!given.remote) return server;
  const line = "admin-token issue --person demonstrator --role operator privacy --json";
  const [issued] = objects<{ token: string }>(await run(line));
  remote = { DRS_ADMIN_URL: server.adminUrl, DRS_ADMIN_TOKEN: issued?.token ?? "" };
  return server;
}

async function stop(server: ServerProcess): Promise<void> {
  remote = {};
  await server.stop();
  await until(async () => (await home.postgres()).length === 0);
}

async function demonstrate(): Promise<void> {
  title("Fourteen days of thirty accounts, among them Alice and Bob.");
  if (given.on === undefined) await drs("demo");
  else await promisify(execFile)("cp", ["-a", `${given.on}/.`, home.path]);

  title("A further purpose: codes by mail are kept for six seconds, payments for ninety days.");
  const codes = { ...POLICY.purposes[0], id: "codes", title: "Codes by mail" };
  const purposes = [...POLICY.purposes, { ...codes, raw_retention: "PT6S", derived_retention: "PT6S" }];
  const policyFile = join(folder, "purposes.yaml");
  await writeFile(policyFile, JSON.stringify({ ...POLICY, purposes, unmapped: codes.id }));
  await drs(`purpose apply ${policyFile} --yes`);

  let server = await start();
  const [payment, code] = (await party(ALICE, ["payment", "code"])) as [Credentials, Credentials];
  const [other] = (await party(BOB, ["payment"])) as [Credentials];
  const paid = await store(server, payment);
  const disputed = await store(server, payment);
  const coded = await store(server, code);
  const bobs = await store(server, other);
  show("an event is read back byte for byte", (await exactBytes(paid)) === paid.exact);

  title("A legal hold on one of Alice's payments.");
  const review = new Date(Date.now() + 90 * 86_400_000).toISOString().slice(0, 10);
  const why = `--reason "dispute 4711" --approver "J. Doe" --review ${review}`;
  const { hold_id } = await json<{ hold_id: string }>(`hold add --event ${disputed.id} ${why}`);

  title("Her code expires.");
  await until(async () => !(await listed(ALICE)).includes(coded.id));
  show("no read finds it", (await exactBytes(coded)) === undefined);
  const hers = await listed(ALICE);
  const pass = await json<{ rows: number }>("retention run");
  show("its row is deleted, and none of hers", pass.rows >= 1 && (await listed(ALICE)).length === hers.length);

  title("A backup is made: a copy of the database's files.");
  await stop(server);
  const backup = join(home.path, "backup");
  await promisify(execFile)("cp", ["-a", home.dataDir, backup]);

  title("Alice requests erasure.");
  server = await start();
  const request = await json<{ request_id: string; due_at: string }>(
    `request add --account ${ALICE} --kind erasure --identity "signed in, code by mail"`,
  );
  show("the request is due within a month", Date.parse(request.due_at) - Date.now() < 32 * 86_400_000);
  const plan = await json<{ events: number; held: number }>(`erase plan --account ${ALICE}`);
  show("the plan says what is deleted and what the hold keeps", plan.events === hers.length - 1 && plan.held === 1);
  const receipt = join(folder, "receipt.jws");
  const erase = `erase run --account ${ALICE} --reason "request of today" --receipt ${receipt} --yes`;
  const erasure = await json<{ erasure_id: string; still_held: number }>(erase, 3);
  show(
    "exit code 3: the hold keeps one event",
    erasure.still_held === 1 && (await exactBytes(disputed)) === disputed.exact,
  );
  show("the other one is deleted", (await exactBytes(paid)) === undefined);
  await drs(`request close ${request.request_id} --outcome done --erasure ${erasure.erasure_id}`, 1);
  await drs(`request close ${request.request_id} --outcome partly --erasure ${erasure.erasure_id}`);
  show("the request is not done, but done in part", true);

  title("The receipt is verified by the public key, and with one character changed it is not.");
  const key = join(folder, "receipts.pem");
  await writeFile(key, await drs("receipt key"));
  const verified = await json<{ events: number; held: number; destroyed_keys: string[] }>(
    `receipt verify ${receipt} --public-key ${key}`,
  );
  show(
    "it says how many events, keys and held events",
    verified.held === 1 && verified.events === hers.length - 1 && verified.destroyed_keys.length > 1,
  );
  const text = await readFile(receipt, "utf8");
  await writeFile(receipt, text.slice(0, 200) + (text[200] === "A" ? "B" : "A") + text.slice(201));
  await drs(`receipt verify ${receipt} --public-key ${key}`, 1);

  title("A late retry of the erased payment, by Alice, who has returned.");
  const [again] = (await party(ALICE, ["payment"])) as [Credentials];
  const headers = { ...paid.request.headers, Authorization: `Bearer ${again.token}` };
  const retried = await send({ url: server.url, headers, body: paid.request.body });
  show(
    "200 with the id of the first answer, and no event is stored",
    retried.status === 200 && retried.json["event_id"] === paid.id,
  );
  const changed = await send({
    url: server.url,
    headers,
    body: paid.request.body.replace('"sensorCount":23', '"sensorCount":24'),
  });
  show("409 for other bytes under the same key", changed.status === 409);
  const fresh = await store(server, again);
  show("a new event of hers is kept under a new key", (await exactBytes(fresh)) === fresh.exact);

  title("The hold ends, and with it the rest of the erasure.");
  await drs(`hold lift ${hold_id} --reason "dispute 4711 is closed" --yes`);
  show("what it kept is not read any more", (await exactBytes(disputed)) === undefined);
  await drs("retention run");
  const erasures = objects(await drs("erase list --json"));
  show("its copy and its secret are destroyed, as an erasure of its own", erasures[0]?.["kind"] === "hold");
  await drs(`request close ${request.request_id} --outcome done`);
  show("the request is done", true);

  title("A legal hold on Bob's account, after the backup.");
  const onBob = await json<{ hold_id: string }>(`hold add --account ${BOB} ${why}`);

  title("Everything that is held about Bob.");
  const out = join(folder, "export");
  await drs(`account export --account ${BOB} --out ${out} --reason "request of today"`);
  show("his event, byte for byte", (await readFile(join(out, "events", `${bobs.id}.json`), "utf8")) === bobs.exact);
  const accesses = objects(await readFile(join(out, "accesses.ndjson"), "utf8"));
  show(
    "and who looked, when and why",
    accesses.some(({ operation }) => operation === "account.export"),
  );

  title("The old backup is restored: it holds what was erased.");
  await stop(server);
  await rm(home.dataDir, { recursive: true });
  await rename(backup, home.dataDir);
  server = await start();
  show(
    "the start reports the erasures that it applied again",
    /lacked 2 erasures of the journal/.test(server.stderr()),
  );
  show("no erased event is listed", (await listed(ALICE)).length === 0);
  for (const erased of [paid, disputed, coded]) {
    if ((await exactBytes(erased)) !== undefined) throw new Error("an erased event is readable");
  }
  show("nor readable", true);
  show("and no other event is lost", (await exactBytes(bobs)) === bobs.exact);
  const holds = objects(await drs("hold list --json"));
  const restored = holds.find((hold) => hold["hold_id"] === onBob.hold_id);
  show("the hold on Bob's account is active", restored?.["account"] === BOB && restored["lifted_at"] === null);
  await stop(server);
}

try {
  await demonstrate();
  process.stdout.write(`\nShown: ${shownCount}\n`);
} finally {
  await home.remove();
  await rm(folder, { recursive: true, force: true });
}
