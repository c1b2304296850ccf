/** Each privacy screen in each of its states: accessible, as wide as the window, and without a script of a name. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium, useConsole } from "./scene.ts";
import { answerLate, expectScreen, refuse } from "./screen.ts";

const scene = useConsole({ settings: { DRS_APPROVAL_EVENTS: "1" } });
const folder = mkdtempSync(join(tmpdir(), "drs-privacy-"));
let page: Page;
afterAll(() => rmSync(folder, { recursive: true }));

const HOSTILE = `</script><script>document.title='run'</script>\u202E${"x".repeat(60)}`;

const SCREENS = {
  requests: { call: "requests", empty: "No requests yet" },
  erasures: { call: "erasures", empty: "None. Each erasure stays" },
  holds: { call: "holds", empty: "No holds" },
  restrictions: { call: "restrictions", empty: "No restrictions" },
  purposes: { call: "purposes", empty: "No policy was applied yet" },
  approvals: { call: "approvals", empty: "Nothing waits" },
} as const;
const NAMES = Object.keys(SCREENS) as readonly (keyof typeof SCREENS)[];

beforeAll(async () => {
  if (hasChromium) page = await scene.signIn("ann", ["privacy"]);
});

const go = async (path: string): Promise<void> => void (await page.goto(`${scene.url}/${path}`));
const callOf = (name: keyof typeof SCREENS): RegExp => new RegExp(`/admin/v1/${SCREENS[name].call}(\\?|$)`);

async function expectShown(): Promise<void> {
  await expectScreen(page);
  await page.unrouteAll();
  expect(await page.title()).toBe("Device Risk Signals");
  expect(scene.takeMessages().filter((text) => !text.startsWith("Failed to load resource"))).toEqual([]);
}

/** Makes the list of an answer long: a thousand rows. */
const repeatRows = (name: keyof typeof SCREENS): Promise<unknown> =>
  page.route(callOf(name), async (route) => {
    const response = await route.fetch();
    const answer = (await response.json()) as Readonly<Record<string, unknown>>;
    const many = Object.entries(answer).map(([member, value]) => {
      if (!Array.isArray(value) || value.length === 0) return [member, value];
      const rows = Array.from({ length: 1_000 }, (_, at) => (value as readonly object[])[at % value.length] ?? {});
      const id = Object.keys(rows[0] ?? {}).find((key) => key === "id" || key.endsWith("_id"));
      return [member, rows.map((row, at) => ({ ...row, [id ?? ""]: `${at}` }))];
    });
    await route.fulfill({ response, json: Object.fromEntries(many) });
  });

describe.skipIf(!hasChromium)("of the privacy screens (skipped without Chromium)", () => {
  test.each(NAMES)("%s is accessible while it loads, after a failure, and empty", async (name) => {
    await answerLate(page, callOf(name));
    await go(name);
    await page.locator(".skeleton").first().waitFor();
    await expectShown();
    await refuse(page, callOf(name));
    await go(name);
    await page.getByRole("alert").first().waitFor();
    await expectShown();
    await page.getByRole("button", { name: "Try again" }).first().click();
    await page.getByText(SCREENS[name].empty).waitFor();
    await expectShown();
  });

  test("the list of each screen is accessible with hostile names, and with a thousand rows", async () => {
    await fill();
    for (const name of NAMES) {
      await go(name);
      await page.locator("tbody tr, .purpose, article").first().waitFor();
      await expectShown();
      // A policy has few purposes, and the server divides the approvals into pages.
      if (name === "purposes" || name === "approvals") continue;
      await repeatRows(name);
      await go(name);
      await page.locator("tbody tr").nth(99).waitFor();
      await expectShown();
    }
  });

  test("a request of each kind is accessible, open and closed", async () => {
    for (const request_id of requests) {
      await go(`requests/${request_id}`);
      await page.locator(".steps, #proof").waitFor();
      await expectShown();
    }
    await page.getByRole("button", { name: "Refuse it instead" }).click();
    await page.getByLabel("Why it is refused").fill("the account is not theirs");
    await expectShown();
    await page.getByRole("button", { name: "Close as refused" }).click();
    await page.locator("#proof").waitFor();
    await expectShown();
    await go("requests/01900000-0000-7000-8000-000000000000");
    await page.getByText("There is no such request").waitFor();
    await expectShown();
  });

  test("each dialog, plan, wait and receipt is accessible", async () => {
    for (const [path, button] of DIALOGS) {
      await go(path);
      await page.getByRole("button", { name: button }).first().click();
      await page.getByRole("dialog").waitFor();
      await expectShown();
    }
    await go(`erasures?account=many`);
    await page.getByLabel("Reason").fill("request 4711");
    await expectShown();
    await page.getByRole("button", { name: /^Erase 2 events/ }).click();
    await page.getByText("Next: another person approves").waitFor();
    await expectShown();
    const link = await page.locator(".next-step .mono").innerText();
    await page.goto(link);
    await page.getByRole("button", { name: "Withdraw", exact: true }).waitFor();
    await expectShown();
    await go("erasures");
    await page.getByRole("link", { name: "Show and verify" }).first().click();
    await page.getByText("✓ Valid.").waitFor();
    await expectShown();
    const path = join(folder, "receipt.jws");
    writeFileSync(path, HOSTILE);
    await page.locator("input[type=file]").setInputFiles(path);
    await page.getByText("Not valid.").waitFor();
    await expectShown();
    await go("purposes");
    await page.getByRole("group").first().getByLabel("Events", { exact: true }).fill("1");
    await page.getByRole("button", { name: "Show what this deletes" }).click();
    await page.getByText("deleted at once").waitFor();
    await expectShown();
    await page.getByText("Use a policy file instead").click();
    writeFileSync(path, `purposes: "${HOSTILE}"`);
    await page.locator("input[type=file]").setInputFiles(path);
    await page.getByText("This can't be applied").waitFor();
    await expectShown();
  });
});

const DIALOGS = [
  ["requests", "Register a request"],
  ["holds", "Place a hold"],
  ["holds", "Review"],
  ["holds", "End"],
  ["restrictions", "Restrict an account"],
  ["restrictions", "End"],
] as const;

const KINDS = ["access", "portability", "erasure", "restriction", "objection", "rectification"] as const;
const requests: string[] = [];

async function fill(): Promise<void> {
  const file = join(folder, "purposes.yaml");
  const words = JSON.stringify(HOSTILE.replace("\u202E", ""));
  const purpose = `title: ${words}, legal_basis: ${words}, raw_retention: P90D, derived_retention: P1Y, owner: ${words}`;
  const purposes = ["payments", "default"].map((id) => `  - { id: ${id}, ${purpose} }`).join("\n");
  writeFileSync(file, `purposes:\n${purposes}\nactions: { payment: payments }\nunmapped: refuse\n`);
  await scene.drs("purpose", "apply", file);
  for (const account of ["many", "many", HOSTILE, "erased"]) await scene.store(account, "full-android");
  for (const kind of KINDS) {
    const added = await scene.drs(
      "request",
      "add",
      "--account",
      HOSTILE,
      "--kind",
      kind,
      "--identity",
      HOSTILE,
      "--json",
    );
    requests.push((JSON.parse(added) as { request_id: string }).request_id);
  }
  const because = ["--reason", HOSTILE, "--approver", HOSTILE];
  await scene.drs("hold", "add", "--account", HOSTILE, ...because, "--review", "2099-01-31");
  await scene.drs("restriction", "add", "--account", HOSTILE, "--article", "18", ...because);
  await scene.drs("erase", "run", "--account", "erased", "--reason", HOSTILE, "--yes");
  const asked = { account: "many", reason: HOSTILE };
  const refused = await page.evaluate<number>(
    `fetch("/admin/v1/erasures", { method: "POST", headers: { "Content-Type": "application/json" }, body: ${JSON.stringify(JSON.stringify(asked))} }).then(({ status }) => status)`,
  );
  expect(refused).toBe(409);
}
