import { createHash, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type AdminRequestError, createAdminClient } from "@device-risk-signals/admin-api";
import { Browser } from "../../../../../e2e/support/browser.ts";
import { advanceClock } from "../../../../../e2e/support/test-clock.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useSignIn } from "./sign-in-scene.fixture.ts";

const scene = useTestSystem();
const signing = useSignIn(scene);
const { listener } = signing;

const STATE = "s".repeat(22);
const REDIRECT_URI = "http://127.0.0.1:4711/callback";

const beginUrl = (changes: Record<string, string>): string => {
  const query = { redirect_uri: REDIRECT_URI, state: STATE, code_challenge: "c".repeat(43), ...changes };
  return `${listener.url}/admin/v1/cli-sign-in?${new URLSearchParams(query).toString()}`;
};

/** The code that a command receives through the browser of a person who signs in. */
async function codeFor(verifier: string, sub = "1", changes: Record<string, string> = {}): Promise<string> {
  const code_challenge = createHash("sha256").update(verifier).digest("base64url");
  const page = await new Browser().visit(beginUrl({ code_challenge, ...changes }), sub, (url) =>
    url.startsWith(REDIRECT_URI),
  );
  const { searchParams } = new URL(page.url);
  expect(searchParams.get("state")).toBe(STATE);
  return searchParams.get("code") ?? "";
}

const exchange = (code: string, verifier: string, headers: Record<string, string> = {}) =>
  fetch(`${listener.url}/admin/v1/cli-sign-in/token`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify({ code, code_verifier: verifier }),
  });

async function login(sub = "1", changes: Record<string, string> = {}): Promise<string> {
  const verifier = randomBytes(32).toString("base64url");
  const reply = await exchange(await codeFor(verifier, sub, changes), verifier);
  return ((await reply.json()) as { token: string }).token;
}

const status = async (token: string) =>
  (await fetch(`${listener.url}/admin/v1/session`, { headers: { Authorization: `Bearer ${token}` } })).status;

describe("a command that signs a person in", () => {
  it("needs a recent sign-in to erase, export or destroy, unlike an admin token", async () => {
    const client = createAdminClient({ url: listener.url, token: await login("1", { max_age: "300" }) });
    const erasure = { account: "unknown", reason: "request 17" };
    const asked = { ...erasure, request_id: "019a0000-0000-7000-8000-000000000000" };
    const codeOf = (called: Promise<unknown>) =>
      called.then(
        () => "done",
        (error: unknown) => (error as AdminRequestError).code,
      );
    const destroying = () =>
      Promise.all([
        codeOf(client.call("runErasure", { ...erasure, dry_run: true })),
        codeOf(client.call("exportAccount", asked)),
        codeOf(client.call("destroyKey", { version: "none", dry_run: true })),
      ]);
    expect(await destroying()).not.toContain("step-up-required");
    await advanceClock(scene.environment, 6 * 60_000);
    expect(await destroying()).toEqual(["step-up-required", "step-up-required", "step-up-required"]);
    const machine = await listener.client(["privacy"]);
    expect(await codeOf(machine.call("exportAccount", asked))).toBe("not-found");
  });

  it("gets a token of 8 hours", async () => {
    const token = await login();
    expect(token).toMatch(/^drs_adm_[\w-]{43}$/);
    const client = createAdminClient({ url: listener.url, token });
    expect(await client.call("readSession", {})).toMatchObject({ person: "j.doe", via: "cli" });
    await advanceClock(scene.environment, 8 * 3_600_000 - 60_000);
    expect(await status(token)).toBe(200);
    await advanceClock(scene.environment, 60_000);
    expect(await status(token)).toBe(401);
  });

  it("ends only its own session at the sign-out", async () => {
    const [token, other] = [await login(), await login()];
    await createAdminClient({ url: listener.url, token }).call("signOut", {});
    expect([await status(token), await status(other)]).toEqual([401, 200]);
  });

  it("can exchange the code once, and a program with another verifier can't", async () => {
    const verifier = "v".repeat(43);
    const code = await codeFor(verifier);
    expect((await exchange(code, "w".repeat(43))).status).toBe(400);
    expect((await exchange(code, verifier)).status).toBe(400);
    const again = await codeFor(verifier);
    expect((await exchange(again, verifier)).status).toBe(200);
    expect((await exchange(again, verifier)).status).toBe(400);
    await listener.falseLog.flush(true);
    const { rows } = await scene.owner.query(
      "select occurrences::int4 from audit_entry where operation = 'session.authenticate' and detail ->> 'cause' = 'sign-in'",
    );
    expect(rows).toEqual([{ occurrences: 3 }]);
  });

  it("can neither exchange the code after a minute, nor use it as a token", async () => {
    const verifier = "v".repeat(43);
    const code = await codeFor(verifier);
    expect(await status(code)).toBe(401);
    await advanceClock(scene.environment, 60_000);
    expect((await exchange(code, verifier)).status).toBe(400);
  });

  it("gets no code for a page of another site", async () => {
    const verifier = "v".repeat(43);
    const code = await codeFor(verifier);
    expect((await exchange(code, verifier, { "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
    expect((await exchange(code, verifier, { Origin: "https://evil.example" })).status).toBe(403);
  });

  it("asks the person first, and names where the command waits", async () => {
    const redirect_uri = `http://127.0.0.1:4711/a"b<i>&c`;
    const url = beginUrl({ redirect_uri });
    for (const site of ["cross-site", "same-site", "same-origin", "none"]) {
      const headers = { "Sec-Fetch-Site": site, "Sec-Fetch-Dest": "document" };
      const page = await new Browser().request(url, { headers });
      expect(page).toMatchObject({
        status: 200,
        text: expect.stringContaining("<code>127.0.0.1:4711</code>") as string,
      });
      expect(page.headers.get("Set-Cookie")).toBeNull();
      const [, action = ""] = /action="([^"<>]*)"/.exec(page.text) ?? [];
      expect(new URL(action.replaceAll("&amp;", "&"), url).searchParams).toEqual(new URL(url).searchParams);
    }
  });

  it.each([
    ["by a link", { method: "GET" }, 200],
    ["by a form of another site", { method: "POST", headers: { "Sec-Fetch-Site": "cross-site" } }, 403],
    ["by a form of another origin", { method: "POST", headers: { Origin: "https://evil.example" } }, 403],
    ["by a program without an origin", { method: "POST" }, 403],
    ["by its button", { method: "POST", headers: { "Sec-Fetch-Site": "same-origin" } }, 303],
    [
      "with fields",
      { method: "POST", headers: { "Sec-Fetch-Site": "same-origin" }, body: new URLSearchParams("a=b") },
      413,
    ],
  ])("that is asked for %s starts only by its button", async (_, init, expected) => {
    expect((await new Browser().request(beginUrl({}), init)).status).toBe(expected);
  });

  it("gets no code if a link to the sign-in of the console leads back to it", async () => {
    const browser = new Browser();
    await signing.signIn("1", browser);
    const path = beginUrl({}).slice(listener.url.length);
    const link = `${listener.url}/admin/v1/sign-in?${new URLSearchParams({ return: path }).toString()}`;
    let page = await browser.request(link, { headers: { "Sec-Fetch-Dest": "document" } });
    for (let step = 0; step < 10 && !page.text.includes("<button>"); step++) {
      const [, refresh] = /content="0;url=([^"]+)"/.exec(page.text) ?? [];
      const next = page.headers.get("Location") ?? refresh?.replaceAll("&amp;", "&") ?? "";
      expect(next).not.toBe("");
      page = await browser.request(new URL(next, page.url).href);
    }
    expect(page.text).toContain("<button>Sign in for drs login</button>");
    expect(browser.visited.some((url) => url.startsWith(REDIRECT_URI))).toBe(false);
  });

  it("does not start as an image or in a frame, which also does not count towards the limit of the address", async () => {
    listener.stopTime();
    for (const destination of ["image", "iframe", "empty"]) {
      for (let left = 30; left > 0; left--) {
        const page = await new Browser().request(`${listener.url}/admin/v1/sign-in`, {
          headers: { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": destination },
        });
        expect(page.status).toBe(403);
      }
    }
    expect((await new Browser().request(beginUrl({}))).status).toBe(200);
  });

  it("works while another program at its address fails at every limit", async () => {
    listener.stopTime();
    const failing = (): Promise<number>[] => [
      exchange("false", "v".repeat(43)).then(({ status }) => status),
      new Browser().request(`${listener.url}/admin/v1/sign-in/callback`).then(({ status }) => status),
    ];
    for (let left = 61; left > 0; left--) await Promise.all(failing());
    expect(await Promise.all(failing())).toEqual([429, 429]);
    expect(await status(await login())).toBe(200);
  });

  it.each([
    ["a redirect to another host", { redirect_uri: "https://evil.example/" }],
    ["a short state", { state: "short" }],
    ["a challenge that is none", { code_challenge: "plain" }],
  ])("with %s is refused", async (_, changes) => {
    expect((await new Browser().request(beginUrl(changes))).status).toBe(400);
  });
});
