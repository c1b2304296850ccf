/** Tests of stores that can be read and not written. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authorized, type Reply, send, transport } from "./support/client.ts";
import { type Printed, runWithBreakGlass } from "./support/command.ts";
import { sharedDatabase, type TestDatabase } from "./support/database.ts";
import { until } from "./support/embedded.ts";
import { makeUnwritable } from "./support/make-unwritable.ts";
import { type Credentials, issueCredentials, type ServerProcess, startServer } from "./support/server.ts";
import { useFolder } from "./support/use-folder.ts";

const folder = useFolder();
let database: TestDatabase;

beforeAll(async () => {
  database = await sharedDatabase();
});

afterAll(() => database?.close());

const readiness = ({ adminUrl }: ServerProcess): Promise<Reply> =>
  send({ url: adminUrl, method: "GET", path: "/readyz" });

const post = ({ url }: ServerProcess, who: Credentials): Promise<Reply> =>
  send({ url, headers: authorized(who), body: JSON.stringify(transport(who)) });

describe.each([
  ["key store", "DRS_KEY_DIR", 503],
  ["erasure journal", "DRS_ERASURE_JOURNAL", 201],
  ["directory of audit checkpoints", "DRS_AUDIT_CHECKPOINTS", 201],
] as const)("if the %s can be read and not written", (title, variable, status) => {
  test("readiness and the doctor name it and its path until it can be written", async () => {
    const environment: Record<string, string> = {
      ...(await database.environment()),
      DRS_ERASURE_JOURNAL: join(folder(), `${variable}-journal`),
      DRS_AUDIT_CHECKPOINTS: join(folder(), `${variable}-checkpoints`),
    };
    const path = environment[variable] ?? "";
    const drs = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(environment, ...args);
    const who = await issueCredentials(environment, `account-${variable}`);
    await (await startServer(environment)).stop();
    await mkdir(path, { recursive: true });
    const folderMade = await makeUnwritable(path);
    await using closing = new AsyncDisposableStack();
    closing.defer(() => folderMade.restore());
    const server = await startServer(environment);
    closing.defer(async () => void (await server.stop()));

    await until(async () => (await readiness(server)).text.includes(path));
    const problem = `${title}: .*is (read-only|not writable): ${path}`;
    expect((await readiness(server)).text).toMatch(new RegExp(`^${problem}`, "m"));
    expect((await post(server, who)).status).toBe(status);
    const doctor = await drs("doctor");
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(new RegExp(`^FAIL {2}${problem}`, "m"));
    if (variable === "DRS_ERASURE_JOURNAL") await expectUnwrittenOrder(drs, who, path);

    await folderMade.restore();
    await until(async () => (await readiness(server)).text === "ok\n");
    expect((await post(server, who)).status).toBe(201);
    expect((await drs("doctor")).stdout).toMatch(new RegExp(`^ok {4}${title}: can be written`, "m"));
  });
});

/** An erasure whose entry could not be written changes nothing, and says so. */
async function expectUnwrittenOrder(
  drs: (...args: readonly string[]) => Promise<Printed>,
  { account }: Credentials,
  path: string,
): Promise<void> {
  const { code, stderr } = await drs("erase", "run", "--account", account, "--reason", "request 17", "--yes");
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`the erasure journal is (read-only|not writable): ${path}`));
  expect(stderr).toContain("nothing was changed");
  expect(stderr).not.toContain("may hold");
}
