/** The stories of two people, who sign in at an identity provider, with the proof that decisions need. */
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authorized, send, transport } from "../../../e2e/support/client.ts";
import { sharedDatabase, type TestDatabase } from "../../../e2e/support/database.ts";
import type { ProviderForm } from "../../../e2e/support/identity-provider.ts";
import { issueCredentials } from "../../../e2e/support/server.ts";
import { roleFileOf, type SignInServer, startSignInServer } from "../../../e2e/support/sign-in-server.ts";
import { useFolder } from "../../../e2e/support/use-folder.ts";
import { hasChromium, launchChromium } from "../chromium.ts";
import { Hand } from "./hand.ts";
import { answerAccess, button, type Colleague, eraseAccount, type Proof } from "./privacy-walks.ts";

const home = useFolder();
let database: TestDatabase;
let browser: Browser;
let scene: SignInServer;

beforeAll(async () => {
  if (!hasChromium) return;
  database = await sharedDatabase();
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await database?.close();
});

async function start(form: ProviderForm): Promise<void> {
  const journal = await mkdtemp(join(home(), "journal-"));
  const settings = { DRS_APPROVAL_EVENTS: "1", DRS_ERASURE_JOURNAL: journal };
  scene = await startSignInServer({ ...(await database.environment()), ...settings }, home(), { form });
  const { issuer, people } = scene.provider;
  people.set("2", { groups: ["staff"] });
  await scene.writeRoles(
    `${roleFileOf(issuer)}  - person: m.roe\n    identities: [{ issuer: "${issuer}", sub: "2" }]\n`,
  );
  await scene.restart();
  for (const account of ["shop-1", "shop-1", "asks"]) {
    const who = await issueCredentials(scene.environment, account);
    const body = JSON.stringify(transport(who));
    expect((await send({ url: scene.server.url, headers: authorized(who), body })).status).toBe(201);
  }
}

/** Opens a path in a new browser, and signs in at the provider as one of its people. */
async function signIn(person: "1" | "2", path = "/"): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await page.goto(`${scene.environment["DRS_ADMIN_PUBLIC_URL"]}${path}`);
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.fill("input[name=name]", person);
  await page.click("button");
  await page.getByRole("navigation", { name: "Screens" }).waitFor();
  return page;
}

const colleague: Colleague = async (link) => signIn("2", new URL(link).pathname);

/** Follows the link to the provider, which needs no page here, and returns. */
const signInAgain: Proof = async (hand, page) => {
  await page.getByText("One step before this: sign in again.").waitFor();
  const opening = page.context().waitForEvent("page");
  await hand.press(page.getByRole("link", { name: "Sign in in another tab" }));
  const tab = await opening;
  await tab.getByRole("navigation", { name: "Screens" }).waitFor();
  await tab.close();
  await hand.press(button(page, "I have signed in again"));
};

describe.skipIf(!hasChromium)("two people of a provider that says when they authenticated (needs Chromium)", () => {
  beforeAll(() => start({ authTime: "always" }));
  afterAll(() => scene.stop());

  test("erase an account within eight clicks of both", async () => {
    const hand = new Hand("mouse");
    await eraseAccount(hand, await signIn("1"), "shop-1", colleague);
    expect(hand.count).toBeLessThanOrEqual(8);
  });

  test("answer an access request within eight clicks", async () => {
    const hand = new Hand("mouse");
    await answerAccess(hand, await signIn("1"), "asks");
    expect(hand.count).toBeLessThanOrEqual(8);
  });
});

describe.skipIf(!hasChromium)("two people of a provider that says it only when asked (needs Chromium)", () => {
  beforeAll(() => start({}));
  afterAll(() => scene.stop());

  test("sign in again before they decide, and continue with what they typed", async () => {
    await eraseAccount(new Hand("keyboard"), await signIn("1"), "shop-1", colleague, signInAgain);
  });

  test("sign in again before an export of a person's data", async () => {
    await answerAccess(new Hand("keyboard"), await signIn("1"), "asks", signInAgain);
  });
});
