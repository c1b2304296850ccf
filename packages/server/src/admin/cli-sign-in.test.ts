import { createHash, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createAdminClient } from "@device-risk-signals/admin-api";
import { Browser } from "../../../../e2e/support/browser.ts";
import { advanceClock } from "../../../../e2e/support/test-clock.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
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

/** What a command gets by the browser of a person who signs in. */
async function codeFor(verifier: string, sub = "1"): Promise<string> {
  const code_challenge = createHash("sha256").update(verifier).digest("base64url");
  const page = await new Browser().visit(beginUrl({ code_challenge }), sub, (url) => url.startsWith(REDIRECT_URI));
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

async function login(sub = "1"): Promise<string> {
  const verifier = randomBytes(32).toString("base64url");
  const reply = await exchange(await codeFor(verifier, sub), verifier);
  return ((await reply.json()) as { token: string }).token;
}

const status = async (token: string) =>
  (await fetch(`${listener.url}/admin/v1/session`, { headers: { Authorization: `Bearer ${token}` } })).status;

describe("a command that signs a person in", () => {
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

  it("ends it at the sign-out, and nothing else", async () => {
    const [token, other] = [await login(), await login()];
    await createAdminClient({ url: listener.url, token }).call("signOut", {});
    expect([await status(token), await status(other)]).toEqual([401, 200]);
  });

  it("is the only one that can exchange the code, not a program with another verifier, and only once", async () => {
    const verifier = "v".repeat(43);
    const code = await codeFor(verifier);
    expect((await exchange(code, "w".repeat(43))).status).toBe(400);
    expect((await exchange(code, verifier)).status).toBe(400);
    const again = await codeFor(verifier);
    expect((await exchange(again, verifier)).status).toBe(200);
    expect((await exchange(again, verifier)).status).toBe(400);
  });

  it("can't exchange the code after a minute, nor use it as a token", async () => {
    const verifier = "v".repeat(43);
    const code = await codeFor(verifier);
    expect(await status(code)).toBe(401);
    await advanceClock(scene.environment, 60_000);
    expect((await exchange(code, verifier)).status).toBe(400);
  });

  it("gets nothing for a page of another site", async () => {
    const verifier = "v".repeat(43);
    const code = await codeFor(verifier);
    expect((await exchange(code, verifier, { "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
    expect((await exchange(code, verifier, { Origin: "https://evil.example" })).status).toBe(403);
  });

  it.each([
    ["a redirect to another host", { redirect_uri: "https://evil.example/" }],
    ["a short state", { state: "short" }],
    ["a challenge that is none", { code_challenge: "plain" }],
  ])("with %s is refused", async (_, changes) => {
    expect((await new Browser().request(beginUrl(changes))).status).toBe(400);
  });
});
