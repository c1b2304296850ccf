import { describe, expect, it } from "vitest";
import { createAdminClient, type Role } from "@device-risk-signals/admin-api";
import { Browser, type Page } from "../../../../../e2e/support/browser.ts";
import { connectAsOwner } from "../../../../../e2e/support/database.ts";
import { advanceClock } from "../../../../../e2e/support/test-clock.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { listAudit } from "../../audit/audit.ts";
import { useSignIn } from "./sign-in-scene.fixture.ts";

const MINUTE_MS = 60_000;
const SAME_ORIGIN = { "Sec-Fetch-Site": "same-origin" };

const scene = useTestSystem();
const signing = useSignIn(scene);
const { listener } = signing;
const isCallback = (url: string): boolean => url.includes("/sign-in/callback");

const at = (path: string): string => `${listener.url}/admin/v1${path}`;
const session = async (browser: Browser) => JSON.parse((await browser.request(at("/session"))).text) as object;
const status = async (browser: Browser, init?: RequestInit) => (await browser.request(at("/session"), init)).status;
const SESSION_COOKIE = "__Host-drs-session";
const secretOf = (browser: Browser): string => browser.jar(listener.url).get(SESSION_COOKIE) ?? "";
const post = (browser: Browser, path: string, headers: Record<string, string>, body?: string) =>
  browser.request(at(path), { method: "POST", headers, ...(body !== undefined && { body }) });
const problemOf = ({ text }: Page): string => String((JSON.parse(text) as { type: string }).type.split(":").at(-1));
const advance = (milliseconds: number) => advanceClock(scene.environment, milliseconds);

/** The URL that would complete a sign-in of this browser. */
async function callbackOf(browser: Browser, sub = "1"): Promise<string> {
  return (await browser.visit(at("/sign-in"), sub, isCallback)).url;
}

describe("a person who signs in by the identity provider", () => {
  it("has the roles of the file, in a session of the console", async () => {
    const browser = await signing.signIn();
    expect(await session(browser)).toMatchObject({
      person: "j.doe",
      via: "console",
      roles: ["operator", "analyst", "investigator", "privacy", "auditor"],
    });
    const [entry] = await listAudit(scene.system.pool, () => scene.system.secrets, { person: "j.doe", limit: 10 });
    expect(entry).toMatchObject({ operation: "session.sign_in", outcome: "done", via: "console" });
    expect(entry?.actor).toMatch(/^j\.doe \(console session [0-9a-f-]{36}\)$/);
  });

  it("gets a cookie that no script and no other host can read", async () => {
    const browser = new Browser();
    const page = await browser.request(await callbackOf(browser));
    const line = page.headers.getSetCookie().find((text) => text.startsWith(SESSION_COOKIE));
    expect(line).toMatch(/^__Host-drs-session=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax$/);
  });

  it("continues at the requested page", async () => {
    const page = await new Browser().visit(at("/sign-in?return=/admin/v1/openapi.json"), "1");
    expect(page.url).toBe(at("/openapi.json"));
  });

  it("is the same person with a second identity", async () => {
    expect(await session(await signing.signIn("2"))).toMatchObject({ person: "j.doe" });
    expect(await session(await signing.signIn("3"))).not.toMatchObject({ person: "j.doe" });
  });

  it("that a browser began wrong is rejected with a page that says what to do", async () => {
    const visit = (Accept: string) => fetch(at("/sign-in/callback?code=%3Cb%3E&state=x"), { headers: { Accept } });
    const page = await visit("text/html,*/*");
    expect([page.status, page.headers.get("Content-Type")]).toEqual([400, "text/html; charset=utf-8"]);
    expect(page.headers.get("Content-Security-Policy")).toContain("default-src 'none'");
    const text = await page.text();
    expect(text).toContain("<h1>Sign-in invalid</h1>");
    expect(text).toContain('<a href="/admin/v1/sign-in">Sign in again</a>');
    expect(text).not.toContain("<b>");
    expect((await visit("*/*")).headers.get("Content-Type")).toContain("application/problem+json");
  });

  it("is rejected with advice if the provider lists more groups than the server accepts", async () => {
    signing.provider.people.set("many", { groups: ["analysts", ...Array.from({ length: 200 }, (_, n) => `g${n}`)] });
    const page = await new Browser().visit(at("/sign-in"), "many");
    expect([page.status, problemOf(page)]).toEqual([403, "sign-in-refused"]);
    expect(page.text).toContain("assigned to this client");
  });

  it("is rejected with an identity to copy if the file does not list it, and operators find the identity in the audit log", async () => {
    signing.refuseUnlisted();
    const page = await new Browser().visit(at("/sign-in"), "unlisted");
    expect([page.status, problemOf(page)]).toEqual([403, "sign-in-refused"]);
    const identity = { issuer: signing.provider.issuer, sub: "unlisted" };
    expect(page.text).toContain(`{ issuer: '${identity.issuer}', sub: '${identity.sub}' }`);
    const refusedFor = async (role: Role) =>
      (await (await listener.client([role])).call("listAudit", {})).entries
        .filter(({ operation, outcome }) => operation === "session.sign_in" && outcome === "denied")
        .map(({ detail }) => detail);
    for (const role of ["operator", "privacy", "auditor"] as const)
      expect(await refusedFor(role)).toContainEqual({ ...identity, source: "127.0.0.1" });
    for (const role of ["analyst", "investigator"] as const) expect(await refusedFor(role)).toEqual([]);
    const { rows } = await scene.owner.query(
      "select record, detail from audit_entry where actor like 'oidc-refused (%'",
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { record, detail } of rows as { record: Buffer; detail: unknown }[]) {
      expect([record.includes("unlisted"), detail]).toEqual([false, null]);
    }
  });

  it("who has lost a role also loses the sessions with this role", async () => {
    signing.provider.people.set("leaver", { groups: ["everything"] });
    const before = await signing.signIn("leaver");
    signing.provider.people.set("leaver", { groups: ["analysts"] });
    const after = await signing.signIn("leaver");
    expect(await status(before)).toBe(401);
    expect(await session(after)).toMatchObject({ roles: ["analyst"] });
    signing.provider.people.set("leaver", {});
    expect((await new Browser().visit(at("/sign-in"), "leaver")).status).toBe(403);
    expect(await status(after)).toBe(401);
    const { rows } = await scene.owner.query(
      "select outcome from audit_entry where operation = 'session.revoke' and actor like 'identity %'",
    );
    expect(rows).toEqual([{ outcome: "done" }, { outcome: "done" }]);
  });
});

describe("an approval", () => {
  const ask = (person: string) =>
    scene.system.approvals.request(scene.system.pool, scene.system.clock, {
      operation: "erase.run",
      parameters: { account: person },
      plan: { events: 2_000 },
      events: 2_000,
      needed: ["operator"],
      person,
      reason: "request 17",
    });
  /** Signs in again now, so that the provider reports a recent authentication. */
  async function signInNow(identity = "1"): Promise<Browser> {
    const browser = new Browser();
    await browser.visit(at("/sign-in?max_age=300"), identity);
    return browser;
  }
  const decisions = async (id: string): Promise<string[]> => {
    const text = "select outcome from audit_entry where operation = 'approval.approve' and approval_id = $1";
    return (await scene.owner.query<{ outcome: string }>(text, [id])).rows.map(({ outcome }) => outcome);
  };
  const JSON_BODY = { ...SAME_ORIGIN, "Content-Type": "application/json" };
  const approve = (browser: Browser, id: string, body: object = {}) =>
    post(browser, `/approvals/${id}/approve`, JSON_BODY, JSON.stringify(body));

  it("is given by another person who has just signed in", async () => {
    const id = await ask("asker");
    const page = await approve(await signInNow(), id);
    expect([page.status, JSON.parse(page.text)]).toEqual([
      200,
      expect.objectContaining({ state: "approved", approved_by: ["j.doe"] }),
    ]);
    expect((await approve(await signInNow(), id)).status).toBe(409);
  });

  it("is given with a reason, which the audit log keeps", async () => {
    const id = await ask("asker-of-reason");
    const browser = await signInNow();
    expect((await approve(browser, id, { reason: "   " })).status).toBe(400);
    expect((await approve(browser, id, { reason: "checked with the ticket" })).status).toBe(200);
    const listed = await browser.request(at("/audit?operation=approval.approve"));
    const { entries } = JSON.parse(listed.text) as { entries: { approval_id: string; reason: string }[] };
    expect(entries.find(({ approval_id }) => approval_id === id)?.reason).toBe("checked with the ticket");
  });

  it("is not given by a person to their own request, not even with a second identity", async () => {
    const id = await ask("j.doe");
    for (const identity of ["1", "2"]) expect((await approve(await signInNow(identity), id)).status).toBe(409);
    expect(await decisions(id)).toEqual(["denied", "denied"]);
  });

  it("is not given by a person who signed in more than five minutes ago", async () => {
    const id = await ask("late");
    const browser = await signInNow();
    await advance(6 * MINUTE_MS);
    expect(problemOf(await approve(browser, id))).toBe("step-up-required");
    expect(await decisions(id)).toEqual(["denied"]);
  });
});

describe("a sign-in", () => {
  it("can't be used twice", async () => {
    const browser = new Browser();
    const callback = await callbackOf(browser);
    const jar = new Map(browser.jar(listener.url));
    expect((await browser.request(callback)).status).toBe(200);
    for (const [name, value] of jar) browser.jar(listener.url).set(name, value);
    const again = await browser.request(callback);
    expect([again.status, problemOf(again)]).toEqual([400, "sign-in-invalid"]);
  });

  it("can't be ended by another browser, nor by another sign-in of the same browser", async () => {
    const [victim, attacker] = [new Browser(), new Browser()];
    const callback = await callbackOf(attacker);
    expect(problemOf(await victim.request(callback))).toBe("sign-in-invalid");
    const own = new URL(await callbackOf(victim, "3"));
    own.searchParams.set("code", new URL(callback).searchParams.get("code") ?? "");
    expect(problemOf(await victim.request(own.href))).toBe("sign-in-invalid");
    expect(secretOf(victim)).toBe("");
  });

  it("that takes more than ten minutes is refused", async () => {
    const browser = new Browser();
    const callback = await callbackOf(browser);
    await advance(10 * MINUTE_MS);
    expect(problemOf(await browser.request(callback))).toBe("sign-in-invalid");
  });

  it("that the provider rejects shows nothing of the provider's answer", async () => {
    const browser = new Browser();
    const callback = new URL(await callbackOf(browser));
    callback.searchParams.delete("code");
    callback.searchParams.set("error", "access_denied");
    callback.searchParams.set("error_description", "text of another system");
    const page = await browser.request(callback.href);
    expect(problemOf(page)).toBe("sign-in-invalid");
    expect(page.text).not.toContain("another system");
  });

  it("leads to no other site", async () => {
    for (const path of ["https://evil.example", "//evil.example", "/%5Cevil.example", "/.//evil.example"]) {
      const page = await new Browser().request(at(`/sign-in?return=${path}`));
      expect([page.status, problemOf(page)]).toEqual([400, "request-invalid"]);
    }
  });
});

describe("a session of the console", () => {
  it("has a new secret, and not one that the browser sent", async () => {
    const browser = new Browser();
    const planted = "a".repeat(43);
    browser.jar(listener.url).set(SESSION_COOKIE, planted);
    await signing.signIn("1", browser);
    const first = secretOf(browser);
    expect(first).not.toBe(planted);
    await signing.signIn("1", browser);
    expect(secretOf(browser)).not.toBe(first);
    expect(await status(new Browser(), { headers: { Cookie: `${SESSION_COOKIE}=${first}` } })).toBe(401);
  });

  it("ends after 30 minutes without a request", async () => {
    const browser = await signing.signIn();
    await advance(29 * MINUTE_MS);
    expect(await status(browser)).toBe(200);
    await advance(30 * MINUTE_MS);
    expect(await status(browser)).toBe(401);
  });

  it("ends after 10 hours, however busy it is", async () => {
    const browser = await signing.signIn();
    for (let round = 0; round < 23; round++) {
      await advance(26 * MINUTE_MS);
      expect(await status(browser)).toBe(200);
    }
    await advance(3 * MINUTE_MS);
    expect(await status(browser)).toBe(401);
  });

  it("accepts no change from a page of another site", async () => {
    const browser = await signing.signIn();
    const evil = { Origin: "https://evil.example" };
    const crossing = [
      { "Sec-Fetch-Site": "cross-site" },
      { "Sec-Fetch-Site": "same-site" },
      { "Sec-Fetch-Site": "none" },
      evil,
      { Origin: "null" },
      {},
    ];
    for (const headers of crossing) {
      expect(problemOf(await post(browser, "/sign-out", headers))).toBe("cross-site");
    }
    expect(await status(browser)).toBe(200);
    expect((await post(browser, "/sign-out", { Origin: listener.url })).status).toBe(200);
  });

  it("accepts only JSON", async () => {
    const browser = await signing.signIn();
    const body = '{"account":"a","category":"dispute","reason":"dispute 4711"}';
    for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
      expect((await post(browser, "/cases", { ...SAME_ORIGIN, "Content-Type": type }, body)).status).toBe(415);
    }
    expect((await post(browser, "/cases", { ...SAME_ORIGIN, "Content-Type": "application/json" }, body)).status).toBe(
      200,
    );
  });

  it("is no credential next to an admin token, nor as a bearer token", async () => {
    const browser = await signing.signIn();
    const Authorization = `Bearer ${await listener.token(["auditor"])}`;
    expect(await status(browser, { headers: { Authorization } })).toBe(401);
    expect(await status(new Browser(), { headers: { Authorization } })).toBe(200);
    expect(await status(new Browser(), { headers: { Authorization: `Bearer ${secretOf(browser)}` } })).toBe(401);
    const twice = `${SESSION_COOKIE}=${secretOf(browser)}; ${SESSION_COOKIE}=${secretOf(browser)}`;
    expect(await status(new Browser(), { headers: { Cookie: twice } })).toBe(401);
  });

  it("ends at the sign-out", async () => {
    const browser = await signing.signIn();
    const secret = secretOf(browser);
    expect((await post(browser, "/sign-out", SAME_ORIGIN)).status).toBe(200);
    expect(secretOf(browser)).toBe("");
    expect(await status(new Browser(), { headers: { Cookie: `${SESSION_COOKIE}=${secret}` } })).toBe(401);
  });

  it("works while another transaction holds its row", async () => {
    const browser = await signing.signIn();
    const { person } = (await session(browser)) as { person: string };
    await advance(61_000); // the time of its last use is written once a minute
    const holder = await connectAsOwner(scene.environment);
    try {
      await holder.query("begin");
      await holder.query("select from admin_session where person = $1 for update", [person]);
      expect(await status(browser)).toBe(200);
    } finally {
      await holder.end();
    }
  });

  it("ends when the operator revokes it", async () => {
    const browser = await signing.signIn("3");
    const { person } = (await session(browser)) as { person: string };
    const client = await listener.client(["operator"]);
    const { sessions } = await client.call("listSessions", {});
    const found = sessions.find((each) => each.person === person);
    await client.call("revokeSession", { session_id: found?.session_id ?? "" });
    expect(await status(browser)).toBe(401);
  });

  it("ends with all other sessions of its person when the operator revokes them", async () => {
    const browsers = [await signing.signIn("3"), await signing.signIn("3")];
    const other = await signing.signIn("1");
    const { person } = (await session(browsers[0] as Browser)) as { person: string };
    const client = await listener.client(["operator"]);
    const { session_ids } = await client.call("revokeSessionsOf", { person });
    expect(session_ids.length).toBeGreaterThanOrEqual(2);
    expect(await Promise.all([...browsers, other].map((browser) => status(browser)))).toEqual([401, 401, 200]);
    expect(await client.call("revokeSessionsOf", { person })).toEqual({ session_ids: [] });
  });

  it("that has ended can't be revived by a login of the database", async () => {
    const browser = await signing.signIn();
    const { rows } = await scene.owner.query(
      "select session_id from drs.admin_session order by started_at desc limit 1",
    );
    const { session_id } = rows[0] as { readonly session_id: string };
    await (await listener.client(["operator"])).call("revokeSession", { session_id });
    await scene.system.pool.query("select delete_expired_sessions(10)");
    const [table, one] = ["drs.admin_session", `session_id = '${session_id}'`];
    for (const [role, code, text] of [
      ["drs_service", "42501", `delete from ${table} where ${one}`],
      ["drs_admin", "42501", `delete from ${table} where ${one}`],
      ["drs_admin", "23001", `update ${table} set ended_at = null where ${one}`],
      ["drs_admin", "23505", `insert into ${table} select * from ${table} where ${one}`],
    ] as const) {
      await scene.owner.query(`set role ${role}`);
      await expect(scene.owner.query(text), text).rejects.toMatchObject({ code });
      await scene.owner.query("reset role");
    }
    expect(await status(browser)).toBe(401);
  });

  it("that was written by a login of the database is refused", async () => {
    const browser = await signing.signIn();
    const set = "update drs.admin_session set roles = '{auditor}' where session_id = $1";
    const { sessions } = await (await listener.client(["operator"])).call("listSessions", {});
    await scene.owner.query(set, [sessions[0]?.session_id]);
    expect(await status(browser)).toBe(401);
  });

  it("is in no URL, no audit entry and no error", async () => {
    const browser = await signing.signIn();
    const audit = JSON.stringify(await listAudit(scene.system.pool, () => scene.system.secrets, { limit: 1_000 }));
    expect(`${browser.visited.join(" ")} ${audit}`).not.toContain(secretOf(browser));
    expect(listener.errors).toEqual([]);
  });
});

describe("the pages of the sign-in", () => {
  it("answer 503 while the identity provider is not reachable, and readiness names it", async () => {
    const dependency = scene.system.dependencies.get("identity_provider");
    await signing.provider.close();
    const page = await new Browser().request(at("/sign-in"));
    expect([page.status, problemOf(page)]).toEqual([503, "unavailable"]);
    expect(dependency.health).toMatchObject({ required: false, problems: ["can't be reached"] });
    await expect(
      createAdminClient({ url: listener.url, token: await listener.token(["auditor"]) }).call("readSession", {}),
    ).resolves.toBeDefined();
  });

  it.each(["/sign-in", "/sign-in/callback"])("make a source address wait that asks too often: %s", async (page) => {
    const statuses: number[] = [];
    for (let round = 0; round < 80 && !statuses.includes(429); round++) {
      statuses.push((await new Browser().request(at(page))).status);
    }
    expect(statuses).toContain(429);
  });
});
