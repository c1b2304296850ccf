/**
 * Demonstrates the lifecycle of an account on the embedded database, with the server and the commands that an operator
 * uses. Each line states a result, and the program fails if the result is different. With `--remote`, commands go
 * through the server's admin API.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { authorized, send, transport, type Reply, type Transport } from "../../e2e/support/client.ts";
import { runWithBreakGlass, objects, PRIVACY } from "../../e2e/support/command.ts";
import { makeHome, until } from "../../e2e/support/embedded.ts";
import { type Credentials, type ServerProcess, startServer } from "../../e2e/support/server.ts";

const home = await makeHome();
const folder = await mkdtemp(join(tmpdir(), "drs-demo-"));
const environment = {
  ...home.environment,
  DRS_ERASURE_JOURNAL: join(folder, "erasures"),
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
  if (!process.argv.includes("--remote")) return server;
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
  title("Two purposes: sign-ins are kept for six seconds, payments for ninety days.");
  const purpose = { legal_basis: "legitimate interest", owner: "risk", derived_retention: "P1Y" };
  const policy = {
    purposes: [
      { ...purpose, id: "default", title: "Anything else", raw_retention: "PT6S", derived_retention: "PT6S" },
      { ...purpose, id: "payments", title: "Payment fraud", raw_retention: "P90D" },
    ],
    actions: { payment: "payments" },
    unmapped: "default",
  };
  const policyFile = join(folder, "purposes.yaml");
  await writeFile(policyFile, JSON.stringify(policy));
  await drs("migrate");
  await drs(`purpose apply ${policyFile} --yes`);

  let server = await start();
  const [payment, signIn] = (await party("alice", ["payment", "sign-in"])) as [Credentials, Credentials];
  const [other] = (await party("bob", ["payment"])) as [Credentials];
  const paid = await store(server, payment);
  const disputed = await store(server, payment);
  const signedIn = await store(server, signIn);
  const bobs = await store(server, other);
  show("an event is read back byte for byte", (await exactBytes(paid)) === paid.exact);

  title("A legal hold on one of Alice's payments.");
  const review = new Date(Date.now() + 90 * 86_400_000).toISOString().slice(0, 10);
  const why = `--reason "dispute 4711" --approver "J. Doe" --review ${review}`;
  const { hold_id } = await json<{ hold_id: string }>(`hold add --event ${disputed.id} ${why}`);

  title("Her sign-in expires.");
  await until(async () => !(await listed("alice")).includes(signedIn.id));
  show("no read finds it", (await exactBytes(signedIn)) === undefined);
  const pass = await json<{ rows: number }>("retention run");
  show("its row is deleted, and only that", pass.rows === 1 && (await listed("alice")).length === 2);

  title("A backup is made: a copy of the database's files.");
  await stop(server);
  const backup = join(home.path, "backup");
  await promisify(execFile)("cp", ["-a", home.dataDir, backup]);

  title("Alice requests erasure.");
  server = await start();
  const request = await json<{ request_id: string; due_at: string }>(
    `request add --account alice --kind erasure --identity "signed in, code by mail"`,
  );
  show("the request is due within a month", Date.parse(request.due_at) - Date.now() < 32 * 86_400_000);
  const plan = await json<{ events: number; held: number }>("erase plan --account alice");
  show("the plan says what is deleted and what the hold keeps", plan.events === 1 && plan.held === 1);
  const receipt = join(folder, "receipt.jws");
  const erase = `erase run --account alice --reason "request of today" --receipt ${receipt} --yes`;
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
  show("it says how many events, keys and held events", verified.held === 1 && verified.destroyed_keys.length === 2);
  const text = await readFile(receipt, "utf8");
  await writeFile(receipt, text.slice(0, 200) + (text[200] === "A" ? "B" : "A") + text.slice(201));
  await drs(`receipt verify ${receipt} --public-key ${key}`, 1);

  title("A late retry of the erased payment, by Alice, who has returned.");
  const [again] = (await party("alice", ["payment"])) as [Credentials];
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
  const onBob = await json<{ hold_id: string }>(`hold add --account bob ${why}`);

  title("Everything that is held about Bob.");
  const out = join(folder, "export");
  await drs(`account export --account bob --out ${out} --reason "request of today"`);
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
  show("no erased event is listed", (await listed("alice")).length === 0);
  for (const erased of [paid, disputed, signedIn]) {
    if ((await exactBytes(erased)) !== undefined) throw new Error("an erased event is readable");
  }
  show("nor readable", true);
  show("and no other event is lost", (await exactBytes(bobs)) === bobs.exact);
  const holds = objects(await drs("hold list --json"));
  const restored = holds.find((hold) => hold["hold_id"] === onBob.hold_id);
  show("the hold on Bob's account is active", restored?.["account"] === "bob" && restored["lifted_at"] === null);
  await stop(server);
}

try {
  await demonstrate();
  process.stdout.write(`\nShown: ${shownCount}\n`);
} finally {
  await home.remove();
  await rm(folder, { recursive: true, force: true });
}
