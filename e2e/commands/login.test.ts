/** Tests of `drs login` with an identity provider. */
import { once } from "node:events";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../../packages/server/src/cli/run-program.ts";
import { Browser } from "../support/browser.ts";
import { makeCertificate } from "../support/certificate.ts";
import { contextWith, objects, runWithBreakGlass } from "../support/command.ts";
import { connectAsOwner, sharedDatabase, type TestDatabase } from "../support/database.ts";
import { until } from "../support/embedded.ts";
import { runDrs } from "../support/server.ts";
import { roleFileOf, type SignInServer, startSignInServer } from "../support/sign-in-server.ts";
import { useFolder } from "../support/use-folder.ts";

const folder = useFolder();
let database: TestDatabase;
let environment: Record<string, string>;
let scene: SignInServer;

beforeAll(async () => {
  database = await sharedDatabase();
  environment = await database.environment();
  scene = await startSignInServer(environment, folder());
  scene.provider.people.set("1", { ...scene.provider.people.get("1"), name: "Jane \u001b\u202eDoe" });
});
afterAll(async () => {
  await scene?.stop();
  await database?.close();
});

class Output extends Writable {
  text = "";
  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

const loginFile = (): string => join(folder(), "drs", "login.json");
const publicUrl = (): string => scene.environment["DRS_ADMIN_PUBLIC_URL"] ?? "";
const readToken = async (): Promise<string> =>
  (JSON.parse(await readFile(loginFile(), "utf8")) as { token: string }).token;

/** Runs `drs` for a user whose settings are in the test's folder. */
function drs(...args: readonly string[]) {
  const [stdout, stderr] = [new Output(), new Output()];
  const context = { ...contextWith(environment, stdout, stderr), configDirectory: join(folder(), "drs") };
  return { stdout, stderr, code: runProgram(context, args) };
}

/** @param before runs before the person signs in, and gets the URL that the command printed. */
async function login(before: (page: string) => Promise<void> = async () => {}, ...more: string[]): Promise<Browser> {
  const run = drs("login", "--url", publicUrl(), ...more);
  await until(async () => run.stdout.text.includes("\n"));
  const page = /http\S+/.exec(run.stdout.text)?.[0] ?? "";
  await before(page);
  const browser = new Browser();
  const last = await browser.visit(page, "1");
  expect(last.text).toContain("Return to the terminal");
  expect(await run.code, run.stderr.text).toBe(0);
  expect(run.stdout.text).toMatch(/Signed in as j\.doe \(operator, privacy, auditor\), until /);
  return browser;
}

describe("drs login", () => {
  test("ends before the sign-in if it can't reach the admin API, and names the cause", async () => {
    const { cert, key } = await makeCertificate(folder(), "localhost");
    const server = createServer({ cert: await readFile(cert), key: await readFile(key) }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `https://localhost:${(server.address() as AddressInfo).port}`;
    const run = drs("login", "--url", url);
    expect(await run.code).toBe(1);
    expect(run.stdout.text).toBe("");
    expect(run.stderr.text).toBe(
      `The admin API at ${url} can't be reached (DEPTH_ZERO_SELF_SIGNED_CERT): name the file of its authority in NODE_EXTRA_CA_CERTS.\n`,
    );
    server.close();
  });

  test("signs a person in with a browser, and commands then use the admin API until drs logout", async () => {
    const browser = await login();
    expect((await stat(loginFile())).mode & 0o777).toBe(0o600);
    const token = await readToken();

    // No database is configured here, so only the admin API can answer.
    const listed = await runDrs({ XDG_CONFIG_HOME: folder() }, ["session", "list", "--json"]);
    expect(listed.code, listed.stderr).toBe(0);
    expect(objects(listed.stdout.toString())).toMatchObject([{ person: "j.doe", kind: "login" }]);
    const people = await runDrs({ XDG_CONFIG_HOME: folder() }, ["person", "list"]);
    expect(people.stdout.toString(), people.stderr).toMatch(
      /^j\.doe +Jane \\u001b\\u202eDoe +operator, privacy, auditor /m,
    );

    const logged = `${scene.server.stdout()} ${scene.server.stderr()} ${browser.visited.join(" ")}`;
    expect(logged).not.toContain(token);
    expect(scene.server.stderr()).not.toMatch(/code=|state=/);

    const out = drs("logout");
    expect([await out.code, out.stdout.text]).toEqual([0, "Signed out.\n"]);
    await expect(stat(loginFile())).rejects.toMatchObject({ code: "ENOENT" });
    const refused = await runWithBreakGlass(
      { DRS_ADMIN_URL: scene.server.adminUrl, DRS_ADMIN_TOKEN: token },
      "session",
      "list",
    );
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(await drs("logout").code).toBe(0);
  });

  test("accepts no code from a page with another state", async () => {
    await login(async (page) => {
      const redirectUri = new URL(page).searchParams.get("redirect_uri") ?? "";
      expect((await fetch(`${redirectUri}?code=planted&state=another`)).status).toBe(400);
      expect((await fetch(redirectUri)).status).toBe(400);
    });
  });

  test("authenticates again with --fresh, so that the server allows the command to erase", async () => {
    await login(async (page) => expect(new URL(page).searchParams.get("max_age")).toBe("300"), "--fresh");
    const run = drs("session", "list", "--json");
    expect(await run.code).toBe(0);
    const [session] = objects<{ authenticated_at: string | null }>(run.stdout.text);
    expect(Date.now() - Date.parse(session?.authenticated_at ?? "")).toBeLessThan(300_000);
  });

  test("stores a token that commands refuse to use if other users can read its file", async () => {
    await login();
    await chmod(loginFile(), 0o644);
    const run = drs("session", "list");
    expect(await run.code).toBe(1);
    expect(run.stderr.text).toContain("Others can read");
    await chmod(loginFile(), 0o600);
    expect(await drs("session", "list").code).toBe(0);
  });

  test("that has ended makes commands fail with a message that says when it ended", async () => {
    const ended = { url: publicUrl(), token: "drs_adm_x", expires_at: "2026-01-01T00:00:00.000Z" };
    await writeFile(loginFile(), JSON.stringify(ended), { mode: 0o600 });
    const run = drs("token", "list");
    expect(await run.code).toBe(1);
    expect(run.stderr.text).toMatch(/The login ended at .*: run drs login/);
  });

  test("ends with all sessions of its person by drs session revoke --person, and tokens by drs admin-token revoke", async () => {
    await login();
    const first = await readToken();
    await login();
    const both = drs("session", "revoke", "5f0c2b9e-3f0e-4b57-9d0c-0f6a2f6f7c11", "--person", "j.doe");
    expect(await both.code).toBe(2);
    await runWithBreakGlass(environment, "admin-token", "issue", "--person", "j.doe", "--role", "auditor");
    for (const said of [/^Revoked [\w-]+\.\n$/, /^There are no active admin tokens of this person\.\n$/]) {
      const tokens = drs("admin-token", "revoke", "--person", "j.doe");
      expect(await tokens.code, tokens.stderr.text).toBe(0);
      expect(tokens.stdout.text).toMatch(said);
    }
    const run = drs("session", "revoke", "--person", "j.doe");
    expect(await run.code, run.stderr.text).toBe(0);
    expect(run.stdout.text.match(/^Ended /gm)?.length).toBeGreaterThanOrEqual(2);
    for (const token of [first, await readToken()]) {
      const headers = { Authorization: `Bearer ${token}` };
      expect((await fetch(`${publicUrl()}/admin/v1/session`, { headers })).status).toBe(401);
    }
  });

  test("is valid for one server, and no other server gets its token", async () => {
    await login();
    const run = await runDrs({ XDG_CONFIG_HOME: folder(), DRS_ADMIN_URL: "http://127.0.0.1:9" }, ["token", "list"]);
    expect(run.code).toBe(1);
    expect(run.stderr).toContain("There is no token for the admin API of DRS_ADMIN_URL");
  });

  test("is not used if its file is damaged", async () => {
    await writeFile(loginFile(), '{"url":"x"}', { mode: 0o600 });
    const run = drs("token", "list");
    expect(await run.code).toBe(1);
    expect(run.stderr.text).toContain("can't be read: run drs login");
  });

  test("needs the address of an admin API", async () => {
    const run = drs("login");
    expect(await run.code).toBe(2);
    expect(run.stderr.text).toContain("--url or DRS_ADMIN_URL");
  });
});

describe("the role file of a server", () => {
  const signIn = async () => (await new Browser().visit(`${publicUrl()}/admin/v1/sign-in`, "1")).status;
  const reload = async (message: string): Promise<void> => {
    scene.server.process.kill("SIGHUP");
    await until(async () => scene.server.stderr().includes(message));
  };

  const count = (): number => scene.server.stderr().split("role file reloaded").length;
  const change = async (text: string): Promise<void> => {
    const before = count();
    await scene.writeRoles(text);
    scene.server.process.kill("SIGHUP");
    await until(async () => count() > before);
  };
  const statusOf = async (token: string): Promise<number> =>
    (await fetch(`${publicUrl()}/admin/v1/session`, { headers: { Authorization: `Bearer ${token}` } })).status;
  const issue = async (person: string): Promise<string> => {
    const args = ["admin-token", "issue", "--person", person, "--role", "auditor", "--json"];
    return objects<{ token: string }>((await runWithBreakGlass(environment, ...args)).stdout)[0]?.token ?? "";
  };

  test("is read again on SIGHUP, and an invalid file changes nothing", async () => {
    await scene.writeRoles("roles: { staff: [admin] }");
    await reload("reload role file failed");
    expect(scene.server.stderr()).toContain("roles.staff.0: is not a role");
    expect(await signIn()).toBe(200);
    await scene.writeRoles(roleFileOf("https://another.example"));
    await reload("role file reloaded");
    expect(await signIn()).toBe(403);
  });

  test("ends sessions and tokens whose person or roles it no longer gives, on SIGHUP", async () => {
    const file = roleFileOf(scene.provider.issuer);
    const signInAgain = async (): Promise<string> => {
      await login();
      return readToken();
    };
    await change(file);
    const [own, machine] = [await issue("j.doe"), await issue("machine")];
    const first = await signInAgain();
    await change(`${file}unlisted: admit\n`);
    expect([await statusOf(first), await statusOf(own)], "an unrelated change").toEqual([200, 200]);
    await change(file.replace("operator, privacy, auditor", "operator, auditor"));
    expect([await statusOf(first), await statusOf(own)], "a role that was taken away").toEqual([401, 200]);
    await change(file);
    const second = await signInAgain();
    await change(file.replace("j.doe", "another"));
    expect(await Promise.all([second, own, machine].map(statusOf)), "a removed person").toEqual([401, 401, 200]);
    await change(file);
  });

  test("refuses them at once although their rows are locked, and also if the server did not run when it was changed", async () => {
    const file = roleFileOf(scene.provider.issuer);
    const withTwo = file.replace("  staff:", "  others: [privacy]\n  staff:");
    const statuses = (tokens: readonly string[]): Promise<number[]> => Promise.all(tokens.map(statusOf));
    await change(withTwo);
    await login();
    const tokens = [await readToken(), await issue("j.doe"), await issue("machine")];
    expect(await statuses(tokens)).toEqual([200, 200, 200]);

    const owner = await connectAsOwner(environment);
    await owner.query("begin");
    await owner.query("select from admin_session for update");
    await owner.query("select from admin_token for update");
    await change(withTwo.replace("operator, privacy, auditor", "operator, auditor"));
    expect(await statuses(tokens), "a role that another value still gives").toEqual([401, 200, 200]);
    await change(withTwo.replace("j.doe", "another"));
    await change(withTwo.replace("j.doe", "another"));
    expect(await statuses(tokens), "a removed person").toEqual([401, 401, 200]);
    await change(withTwo);
    expect(await statuses(tokens), "given again").toEqual([200, 200, 200]);
    await scene.writeRoles(withTwo.replace("j.doe", "another"));
    await scene.restart();
    expect(await statuses(tokens), "removed before a restart").toEqual([401, 401, 200]);
    await owner.end();
    await change(file);
  });

  test("prevents the start if it is invalid", async () => {
    await scene.writeRoles("roles: {}");
    const run = await runDrs({ ...scene.environment, DRS_PORT: "0", DRS_ADMIN_PORT: "0" }, ["serve"]);
    expect(run.code).toBe(1);
    expect(run.stderr).toContain("roles: must be a mapping of one value of the claim or more");
  });
});
