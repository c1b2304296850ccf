import { afterAll, describe, expect, it } from "vitest";
import { send, sendRaw } from "../../../../../e2e/support/client.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";

const scene = useTestSystem();
const listener = useAdminListener(() => scene.system);

afterAll(() => expect(listener.errors, "a mistake of a caller is no error of the listener").toEqual([]));

describe("a request of the admin API", () => {
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const token = await listener.token(["investigator"]);
    return send({ url: listener.url, method: "GET", path, headers: { Authorization: `Bearer ${token}`, ...headers } });
  };

  it("with two credentials is refused", async () => {
    const token = await listener.token(["auditor"]);
    const line = `Authorization: Bearer ${token}\r\n`;
    const request = `GET /admin/v1/session HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`;
    expect((await sendRaw(listener.url, `${request}${line}\r\n`)).status).toBe(200);
    expect((await sendRaw(listener.url, `${request}${line}${line}\r\n`)).status).toBe(401);
  });

  it("from a page of another origin is refused", async () => {
    expect((await get("/admin/v1/session", { "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
    expect((await get("/admin/v1/session", { Origin: "https://evil.example" })).status).toBe(403);
    expect((await get("/admin/v1/session", { Origin: "null" })).status).toBe(403);
    expect((await get("/admin/v1/session", { Origin: listener.url })).status).toBe(200);
  });

  it("under a name that is not the listener's is refused", async () => {
    expect((await get("/admin/v1/session", { Host: "evil.example" })).status).toBe(421);
  });

  it("with a member that occurs twice is refused, and the answer names it", async () => {
    const token = await listener.token(["investigator"]);
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const body = '{"account":"a","category":"debugging","reason":"first look","account":"b"}';
    const reply = await send({ url: listener.url, path: "/admin/v1/cases", headers, body });
    expect(reply).toMatchObject({ status: 400, json: { errors: [{ where: "body/account" }] } });
    const once = body.replace(',"account":"b"', "");
    expect((await send({ url: listener.url, path: "/admin/v1/cases", headers, body: once })).status).toBe(200);
  });

  it("with a body of another type is refused", async () => {
    const token = await listener.token(["investigator"]);
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "text/plain" };
    const path = "/admin/v1/cases";
    const reply = await send({ url: listener.url, path, headers, body: '{"account":"a"}' });
    expect(reply.status).toBe(415);
  });

  it.each([
    ["an unknown parameter", "/admin/v1/events?access_token=secret-value", "access_token"],
    ["a parameter twice", "/admin/v1/events?account=a&account=b", "account"],
    ["a number that is none", "/admin/v1/events?limit=many", "limit"],
    ["a limit beyond the maximum", "/admin/v1/events?limit=100000", "limit"],
    ["a NUL", "/admin/v1/events?account=a%00b", "account"],
    ["an id that is none", "/admin/v1/events/1", "event_id"],
    ["a cursor that is none", "/admin/v1/events?after=x", "after"],
    ["a session without its account", "/admin/v1/events?session_id=s", "session_id"],
    ["an unknown purpose", "/admin/v1/events?purpose=none", "purpose"],
  ])("with %s is refused by name, and its value is not repeated", async (_, path, name) => {
    const reply = await get(path);
    expect(reply.status).toBe(400);
    expect(reply.text).toContain(name);
    expect(reply.text).not.toContain("secret-value");
  });

  it("has an answer with headers that keep it out of caches and pages", async () => {
    const { headers } = await get("/admin/v1/session");
    expect(headers["cache-control"]).toBe("no-store");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["content-security-policy"]).toContain("default-src 'none'");
  });

  it("with false credentials leaves an audit entry a minute for each kind and source address", async () => {
    const lines = {
      missing: {},
      malformed: { Authorization: "Basic cm9vdDpyb290" },
      token: { Authorization: `Bearer drs_adm_${"c".repeat(43)}` },
    };
    const path = "/admin/v1/session";
    for (const headers of Object.values(lines)) {
      for (let sent = 0; sent < 2; sent++) await send({ url: listener.url, method: "GET", path, headers });
    }
    await listener.falseLog.flush(true);
    const auditor = await listener.client(["auditor"]);
    const { entries } = await auditor.call("listAudit", { limit: 100 });
    const left = entries.filter(({ operation }) => operation === "session.authenticate");
    const written = { via: "api", outcome: "denied", account: null, reason: null };
    for (const cause of Object.keys(lines)) {
      const detail = expect.objectContaining({
        cause,
        sources: { "127.0.0.1": expect.any(Number) as number },
      }) as object;
      expect(left.filter((entry) => (entry.detail as { cause: string }).cause === cause)).toMatchObject([
        { ...written, detail },
      ]);
    }
    const { entries: ofOperator } = await (await listener.client(["operator"])).call("listAudit", {});
    expect(ofOperator.map(({ operation }) => operation)).toContain("session.authenticate");
    const { entries: ofAnalyst } = await (await listener.client(["analyst"])).call("listAudit", {});
    expect(ofAnalyst.map(({ operation }) => operation)).not.toContain("session.authenticate");
  });

  it("leaves its source address in the sealed detail of its entry", async () => {
    const analyst = await listener.client(["analyst"], { person: "of-source" });
    await analyst.call("listEvents", { account: "customer-of-source" });
    await analyst.call("readSession", {});
    await expect(analyst.call("listHolds", {})).rejects.toMatchObject({ problem: { status: 403 } });
    const { entries } = await analyst.call("listAudit", {});
    expect(entries.map(({ operation, outcome }) => `${operation} ${outcome}`)).toEqual(
      expect.arrayContaining(["event.list done", "hold.list denied"]),
    );
    for (const { detail } of entries) expect(detail).toMatchObject({ source: "127.0.0.1" });
    const ids = entries.map(({ entry_id }) => entry_id);
    const text =
      "select from audit_entry where entry_id = any ($1) and (detail::text || encode(record, 'escape')) like '%127.0.0.1%'";
    expect((await scene.owner.query(text, [ids])).rowCount, "in the clear").toBe(0);
  });

  it("that fails too often to authenticate has to wait, but the right token passes from the same address", async () => {
    listener.stopTime();
    const wrong = { Authorization: `Bearer drs_adm_${"b".repeat(43)}` };
    const ask = () => send({ url: listener.url, method: "GET", path: "/admin/v1/session", headers: wrong });
    const replies = await Promise.all(Array.from({ length: 140 }, ask));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([401, 429]));
    expect((await get("/admin/v1/session")).status).toBe(200);
    expect((await ask()).status).toBe(429);
    listener.pass(1_000);
    expect((await ask()).status).toBe(401);
  });
});
