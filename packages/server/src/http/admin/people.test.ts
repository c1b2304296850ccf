import { afterEach, describe, expect, it } from "vitest";
import type { Answer } from "@device-risk-signals/admin-api";
import type { Browser } from "../../../../../e2e/support/browser.ts";
import { advanceClock } from "../../../../../e2e/support/test-clock.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { listAudit } from "../../audit/audit.ts";
import { useSignIn } from "./sign-in-scene.fixture.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const scene = useTestSystem();
const signing = useSignIn(scene);
const { listener } = signing;

type Person = Answer<"listPeople">["people"][number];

const people = async (): Promise<readonly Person[]> =>
  (await (await listener.client(["auditor"])).call("listPeople", {})).people;
const find = async (person: string) => (await people()).find((one) => one.person === person);
const sessionOf = async (browser: Browser) =>
  JSON.parse((await browser.request(`${listener.url}/admin/v1/session`)).text) as Answer<"readSession">;
const name = (sub: string, text?: unknown) =>
  void signing.provider.people.set(sub, { groups: ["everything"], ...(text !== undefined && { name: text }) });

afterEach(() => scene.owner.query("delete from signed_in_identity").then(() => {}));

describe("a person", () => {
  it("is listed with name, identities, roles, last sign-in, sessions and tokens", async () => {
    name("1", "Jane Doe");
    name("2", "Jane D.");
    await signing.signIn("1");
    await advanceClock(scene.environment, 1_000);
    await signing.signIn("2");
    await listener.token(["analyst"], { person: "j.doe" });
    const listed = await find("j.doe");
    expect(listed).toMatchObject({ name: "Jane D.", tokens: 1 });
    expect(listed?.identities).toHaveLength(2);
    for (const identity of listed?.identities ?? []) expect(identity).toMatch(/^[0-9a-f]{16}$/);
    expect(listed?.roles).toEqual(["operator", "analyst", "investigator", "privacy", "auditor"]);
    expect(listed?.sessions).toBeGreaterThanOrEqual(2);
    expect(scene.system.clock.now() - Date.parse(listed?.signed_in_at ?? "")).toBeLessThan(1_000);
  });

  it("who only has a token, such as a machine, has neither name nor sign-in", async () => {
    await listener.token(["analyst", "operator"], { person: "ci" });
    expect(await find("ci")).toEqual({
      person: "ci",
      name: null,
      identities: [],
      roles: ["operator", "analyst"],
      signed_in_at: null,
      sessions: 0,
      tokens: 1,
    });
  });

  it("who signed in by a link has a sign-in and no identity, until the session ends", async () => {
    const { pool, clock, adminSessions } = scene.system;
    const linked = { person: "linked", identity: "link 1", grants: [], authenticatedAt: null };
    const { sessionId } = await adminSessions.start(pool, clock, "console", { ...linked, roles: ["auditor"] });
    expect(await find("linked")).toMatchObject({ name: null, identities: [], roles: ["auditor"], sessions: 1 });
    expect((await find("linked"))?.signed_in_at).not.toBeNull();
    await (await listener.client(["operator"])).call("revokeSession", { session_id: sessionId });
    expect(await find("linked")).toBeUndefined();
  });

  it("is listed once over several pages", async () => {
    for (const person of ["ci-1", "ci-2", "ci-3", "=cmd"]) await listener.token(["analyst"], { person });
    const client = await listener.client(["auditor"]);
    const found: string[] = [];
    for (let after: string | undefined; ;) {
      const { people: page, next } = await client.call("listPeople", {
        limit: 2,
        ...(after !== undefined && { after }),
      });
      found.push(...page.map(({ person }) => person));
      if (next === null) break;
      after = next;
    }
    expect(new Set(found).size).toBe(found.length);
    expect(found).toEqual(expect.arrayContaining(["ci-1", "ci-2", "ci-3", "=cmd"]));
    await expect(client.call("listPeople", { after: "x" })).rejects.toMatchObject({ code: "request-invalid" });
  });

  it("sees the own name in the session, and others see it in the list of sessions", async () => {
    name("1", "Jane Doe");
    expect(await sessionOf(await signing.signIn("1"))).toMatchObject({ person: "j.doe", name: "Jane Doe" });
    const { sessions } = await (await listener.client(["operator"])).call("listSessions", {});
    expect(sessions[0]).toMatchObject({ person: "j.doe", name: "Jane Doe" });
  });

  it("has no name after a sign-in without one", async () => {
    name("3", "Jane Doe");
    await signing.signIn("3");
    name("3");
    expect(await sessionOf(await signing.signIn("3"))).toMatchObject({ name: null });
  });
});

describe("a hostile name", () => {
  it("that is the id of another person gives nothing of that person", async () => {
    name("1", "Jane Doe");
    name("3", "j.doe");
    await signing.signIn("1");
    const thief = await signing.signIn("3");
    const { person } = await sessionOf(thief);
    expect(person).toMatch(/^oidc-/);
    expect(await find("j.doe")).toMatchObject({ name: "Jane Doe" });
    const client = await listener.client(["privacy"]);
    await client.call("revokeSessionsOf", { person: "j.doe" });
    expect((await sessionOf(thief)).person, "the session of the thief is not one of j.doe").toBe(person);
    await client.call("revokeSessionsOf", { person });
    expect((await thief.request(`${listener.url}/admin/v1/session`)).status).toBe(401);
  });

  it("of 10 KB, with control characters, is cut, and no audit entry has it", async () => {
    const text = `\u001b[2J\u202e=cmd()<script>\0${"x".repeat(10_240)}`;
    name("3", text);
    const { person, name: stored } = await sessionOf(await signing.signIn("3"));
    expect([...(stored ?? "")]).toHaveLength(128);
    expect(stored).toContain("\u001b[2J\u202e=cmd()<script>\ufffd");
    await people();
    const entries = await listAudit(scene.system.pool, () => scene.system.secrets, { limit: 1_000 });
    expect(entries.some(({ actor }) => actor.startsWith(`${person} (`))).toBe(true);
    expect(entries).toContainEqual(
      expect.objectContaining({
        operation: "person.list",
        detail: expect.objectContaining({ count: expect.any(Number) }),
      }),
    );
    expect(JSON.stringify(entries)).not.toMatch(/<script>|Jane/);
  });
});

describe("the name of a person", () => {
  const expire = () => scene.owner.query("select drs.delete_unused_identities('180 days', 10)");

  it("is deleted a period after the last sign-in, and not while a session is active", async () => {
    name("3", "Jane Doe");
    const { person } = await sessionOf(await signing.signIn("3"));
    await advanceClock(scene.environment, HOUR_MS);
    await scene.owner.query("select drs.delete_unused_identities('0 days', 10)");
    expect(await find(person), "a session is active").toMatchObject({ name: "Jane Doe" });
    await advanceClock(scene.environment, 179 * DAY_MS);
    await expire();
    expect(await find(person), "the period has not ended").toMatchObject({ name: "Jane Doe" });
    await advanceClock(scene.environment, DAY_MS);
    await expire();
    expect(await find(person)).toBeUndefined();
  });
});
