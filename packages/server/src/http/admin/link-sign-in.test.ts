import { beforeEach, describe, expect, it } from "vitest";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { issueSignInLink } from "../../access/identity/sign-in-link.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";

const scene = useTestSystem();
const listener = useAdminListener(() => scene.system, "loopback");
beforeEach(() => listener.pass(60_000));

const SAME_ORIGIN = { "Sec-Fetch-Site": "same-origin" };
const ANN = { person: "ann", roles: ["privacy"] } as const;

async function codeFor(wanted = ANN): Promise<string> {
  const { url } = await issueSignInLink(scene.system, listener.url, wanted, { actor: "test", via: "server" });
  const { origin, pathname, search, hash } = new URL(url);
  expect([origin, pathname, search]).toEqual([listener.url, "/sign-in", ""]);
  return hash.slice(1);
}

const redeem = (code: string, headers: Readonly<Record<string, string>> = SAME_ORIGIN): Promise<Response> =>
  fetch(`${listener.url}/admin/v1/link-sign-in`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify({ code }),
  });

const cookieIn = (response: Response): string => response.headers.getSetCookie()[0]?.split(";")[0] ?? "";

const call = (path: string, Cookie: string, headers = {}, method = "GET"): Promise<Response> =>
  fetch(`${listener.url}/admin/v1${path}`, { method, headers: { Cookie, ...headers } });

describe("a link that signs a person in", () => {
  it("starts a session with a cookie of this port that no script reads and no other site sends", async () => {
    const response = await redeem(await codeFor());
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ person: "ann" });
    const [line = ""] = response.headers.getSetCookie();
    const { port } = new URL(listener.url);
    expect(line).toMatch(new RegExp(`^drs-session-${port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`));
    const session = (await (await call("/session", cookieIn(response))).json()) as Record<string, unknown>;
    expect(session).toMatchObject({ person: "ann", roles: ["privacy"], via: "console" });
    // A link that was just made is a recent proof.
    expect(Date.parse(String(session["authenticated_at"]))).toBeGreaterThan(scene.system.clock.now() - 60_000);
  });

  it("is used once, also by two browsers at the same time", async () => {
    const code = await codeFor();
    const statuses = (await Promise.all([redeem(code), redeem(code), redeem(code)])).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 400, 400]);
    const text = await (await redeem(code)).text();
    expect(text).toContain("drs console link");
    expect(text).not.toContain(code);
  });

  it("expires after ten minutes", async () => {
    const { clock } = scene.system;
    const early = { ...scene.system, clock: { now: () => clock.now() - 599_000 } };
    const late = { ...scene.system, clock: { now: () => clock.now() - 600_001 } };
    const agent = { actor: "test", via: "server" } as const;
    const codes = await Promise.all([early, late].map((ports) => issueSignInLink(ports, "http://x", ANN, agent)));
    const statuses = await Promise.all(codes.map(async ({ url }) => (await redeem(new URL(url).hash.slice(1))).status));
    expect(statuses).toEqual([200, 400]);
  });

  it.each([
    ["cross-site", { "Sec-Fetch-Site": "cross-site" }],
    ["same-site", { "Sec-Fetch-Site": "same-site" }],
    ["another origin without fetch metadata", { Origin: "http://evil.example" }],
    ["another port", { Origin: "http://127.0.0.1:1" }],
    ["a program", {}],
  ])("is refused from %s, and can still be used", async (_, headers) => {
    const code = await codeFor();
    expect((await redeem(code, headers as Record<string, string>)).status).toBe(403);
    expect((await redeem(code)).status).toBe(200);
  });

  it("whose row was written by a login of the database is refused", async () => {
    const code = await codeFor();
    await scene.owner.query("update admin_session set roles = '{operator,privacy}' where kind = 'link'");
    expect((await redeem(code)).status).toBe(400);
  });

  it("authorizes no request itself", async () => {
    const code = await codeFor();
    const { port } = new URL(listener.url);
    expect((await call("/session", `drs-session-${port}=${code}`)).status).toBe(401);
    expect(
      (await fetch(`${listener.url}/admin/v1/session`, { headers: { Authorization: `Bearer ${code}` } })).status,
    ).toBe(401);
  });

  it("replaces the session of the browser, which a planted cookie does not keep", async () => {
    const first = cookieIn(await redeem(await codeFor()));
    const second = cookieIn(await redeem(await codeFor(), { ...SAME_ORIGIN, Cookie: first }));
    expect((await call("/session", first)).status).toBe(401);
    expect((await call("/session", second)).status).toBe(200);
  });

  it("limits false codes of an address", async () => {
    const statuses = new Set<number>();
    for (let count = 0; count < 30; count++) statuses.add((await redeem("false")).status);
    expect([...statuses]).toEqual([400, 429]);
    expect((await redeem(await codeFor())).status).toBe(200);
  });

  it("ends by a sign-out, which deletes the cookie", async () => {
    const cookie = cookieIn(await redeem(await codeFor()));
    expect((await call("/sign-out", cookie, {}, "POST")).status).toBe(403);
    const out = await call("/sign-out", cookie, SAME_ORIGIN, "POST");
    expect(out.status).toBe(200);
    expect(out.headers.getSetCookie()[0]).toMatch(/^drs-session-\d+=; .*Max-Age=0$/);
    expect((await call("/session", cookie)).status).toBe(401);
  });

  it("is audited when it is made and when it is used, without its code", async () => {
    const code = await codeFor({ person: "eve", roles: ["auditor"] } as never);
    const auditor = cookieIn(await redeem(code));
    const text = await (await call("/audit?limit=20", auditor)).text();
    expect(text).toContain("session.link");
    expect(text).toContain("eve (console session");
    expect(text).not.toContain(code);
  });
});
