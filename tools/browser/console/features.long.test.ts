/**
 * The analyst's story: a field that the catalog does not know, its adoption and the features that read it, how two
 * versions of a feature differ. And what the data scientist needs: lineage, evidence, older events, an export.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { EVENTS, HOSTILE, HOSTILE_SHOWN, PATH, useFeatures } from "./features-scene.ts";
import { hasChromium } from "./scene.ts";
import { refuse } from "./screen.ts";

const { scene, folder, event } = useFeatures();
const MAX_CLICKS = 6;

const rail = (page: Page, name: string): Locator =>
  page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name, exact: true });

async function expectField(page: Page): Promise<void> {
  await page.getByRole("heading", { name: "Features that read it" }).waitFor();
  await page.getByRole("img", { name: /, at most 14 on one of 30 days$/ }).waitFor();
  const readers = page.getByRole("region", { name: "Features that read this path" });
  expect(await readers.innerText()).toMatch(/new_found@1\s+this field\s+default\s+new_found@2\s+this field\s+default/);
}

async function expectDistribution(page: Page): Promise<void> {
  await page.getByText("The new field is set").waitFor();
  expect(await page.getByRole("row", { name: /^observed/ }).innerText()).toMatch(/observed\s+10/);
  expect(await page.getByRole("row", { name: /^true/ }).innerText()).toMatch(/true\s+10/);
  expect(await page.getByRole("row", { name: /^departed/ }).innerText()).toMatch(/departed\s+under 10/);
}

async function expectCompared(page: Page): Promise<void> {
  await page.getByRole("heading", { name: "new_found@1 and new_found@2" }).waitFor();
  await page.getByText("has another program").waitFor();
  const values = page.getByRole("region", { name: "Table: Observed value" });
  expect(await values.getByRole("row", { name: /^true/ }).innerText()).toMatch(/true\s+10 events\s+0 events/);
  expect(new URL(page.url()).pathname).toBe("/features/new_found@1/compare/new_found@2");
}

describe.skipIf(!hasChromium)("an analyst (skipped without Chromium)", () => {
  test("reviews a field, sees its adoption and its features, and compares two versions, in six clicks", async () => {
    const page = await scene.signIn("ana", ["analyst"]);
    let clicks = 0;
    const click = (locator: Locator): Promise<void> => (clicks++, locator.click());
    await click(rail(page, "New fields"));
    const row = page.getByRole("row", { name: new RegExp(PATH) });
    expect(await row.first().innerText()).toContain("to be reviewed");
    await click(row.getByRole("link", { name: PATH }));
    await expectField(page);
    await click(page.getByRole("button", { name: "Review" }));
    await page.getByLabel("Reason").fill("texts come from a beta");
    await click(page.getByRole("dialog").getByRole("button", { name: "Accept" }));
    await page.getByText("texts come from a beta").waitFor();
    await click(page.getByRole("link", { name: "new_found@1" }));
    await expectDistribution(page);
    await click(page.getByRole("link", { name: "Compare with new_found@2" }));
    await expectCompared(page);
    expect(clicks).toBeLessThanOrEqual(MAX_CLICKS);
    expect(scene.takeMessages()).toEqual([]);
  });

  test("does the same by keyboard alone", async () => {
    const page = await scene.signIn("kim", ["analyst"]);
    let presses = 0;
    /** Presses Tab until an element has the focus whose name matches, and Enter on it. */
    const follow = async (name: RegExp): Promise<void> => {
      for (let tabs = 0; tabs < 80; tabs++) {
        await page.keyboard.press("Tab");
        const focused = await page.evaluate<string>(
          "document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? ''",
        );
        if (!name.test(focused)) continue;
        presses++;
        return page.keyboard.press("Enter");
      }
      throw new Error(`Tab never reaches ${name}`);
    };
    await follow(/^New fields$/);
    await page.getByRole("link", { name: PATH }).waitFor();
    await follow(/^network\.brandNewField$/);
    await expectField(page);
    await follow(/^Review$/);
    await page.getByRole("dialog").waitFor();
    // The type has the focus; its reason is the next field.
    await page.keyboard.press("Tab");
    await page.keyboard.type("reviewed by keyboard");
    await follow(/^Accept$/);
    await page.getByText("reviewed by keyboard").waitFor();
    await follow(/^new_found@1$/);
    await expectDistribution(page);
    await follow(/^Compare with/);
    await expectCompared(page);
    expect(presses).toBeLessThanOrEqual(MAX_CLICKS);
    expect(scene.takeMessages()).toEqual([]);
  });

  test("computes both versions for the same events, and a colleague sees the same by the link", async () => {
    const page = await scene.signIn("ana", ["analyst"]);
    await page.goto(`${scene.url}/features/new_found@1/compare/new_found@2`);
    await page.getByRole("button", { name: "Compute both for the events of default" }).click();
    const moved = page.getByRole("region", { name: "Results that differ" });
    await moved.getByRole("row", { name: /observed true\s+observed false\s+(13|not shown)\s+android/ }).waitFor();
    const link = page.url();
    expect(new URL(link).searchParams.get("purpose")).toBe("default");
    const colleague = await scene.signIn("ben", ["investigator"]);
    await colleague.goto(link);
    await colleague.getByRole("region", { name: "Results that differ" }).getByRole("row").nth(1).waitFor();
    const audited = await scene.drs("audit", "list", "--person", "ben", "--json");
    expect(audited).toContain('"feature.compare"');
    expect(scene.takeMessages()).toEqual([]);
  });

  test("follows a value from its event to the fields that it was computed from, and back", async () => {
    const page = await scene.signIn("ana", ["analyst"]);
    await page.goto(`${scene.url}/events/${event()}`);
    await page.getByRole("button", { name: "Show the features" }).click();
    await page.getByRole("link", { name: "Where it comes from new_found@1" }).click();
    const graph = page.getByRole("region", { name: "Lineage of new_found@1" });
    await graph.waitFor();
    expect(await graph.innerText()).toMatch(
      /brandNewField\s+network: observed[\s\S]*new_found@1[\s\S]*layer 1, default[\s\S]*true[\s\S]*computed 2/,
    );
    await page.getByText("The lineage in words").click();
    expect(await page.locator(".lineage-words").innerText()).toContain(`Field ${PATH} was observed`);
    await page
      .getByText(/^Evidence: \d+ events? of the 7 days before/)
      .first()
      .click();
    expect(
      await page
        .getByRole("region", { name: /^Evidence of decision/ })
        .first()
        .innerText(),
    ).toContain(PATH);
    await graph.getByRole("link", { name: /brandNewField/ }).click();
    await page.getByRole("heading", { name: PATH }).waitFor();
    const auditor = await scene.signIn("aud", ["auditor"]);
    await auditor.goto(`${scene.url}/features/new_found@1`);
    await auditor.getByLabel("Event id", { exact: true }).fill(event());
    await auditor.getByRole("button", { name: "Where its value comes from" }).click();
    await auditor.getByRole("heading", { name: "new_found@1: a value, not for your roles" }).waitFor();
    expect(scene.takeMessages()).toEqual([]);
  });

  test("sees in the lineage the fields that were opened in this page, and the review of one", async () => {
    const page = await scene.signIn("ina", ["investigator"]);
    await page.goto(`${scene.url}/events/${event()}/features/new_found@1`);
    const graph = page.getByRole("region", { name: "Lineage of new_found@1" });
    await graph.getByText("network: observed").last().waitFor();
    await page.getByRole("link", { name: "open the observations" }).click();
    await page.getByRole("button", { name: "Open the observations" }).click();
    await page.getByLabel("Reason").fill("where the value comes from");
    await page.getByRole("dialog").getByRole("button", { name: "Open", exact: true }).click();
    const field = page.getByRole("row", { name: /^brandNewField/ });
    await expect.poll(() => field.innerText(), { timeout: 10_000 }).toMatch(/Accepted in a review by .+: /s);
    expect(await field.getByRole("link").getAttribute("href")).toBe(`/drift/${PATH}`);
    await page.goBack();
    await graph.getByText("network: true").last().waitFor();
    expect(scene.takeMessages()).toEqual([]);
  });

  test("computes features of older events, and sees how far it is", async () => {
    const page = await scene.signIn("ana", ["analyst"]);
    await page.goto(`${scene.url}/features`);
    await page.getByRole("button", { name: "Compute for older events" }).click();
    await page.getByLabel("Purpose").fill("default");
    await page.getByLabel("Reason").fill("events before the adoption");
    await page.getByRole("dialog").getByRole("button", { name: "Start" }).click();
    const run = page.getByRole("region", { name: "Table: Older events" }).getByRole("row").nth(1);
    await expect.poll(() => run.innerText(), { timeout: 30_000 }).toMatch(/done\s[\s\S]*14 of 14 events/);
    expect(await run.innerText()).toContain("events before the adoption");
    expect(scene.takeMessages()).toEqual([]);
  });

  test("sees rows and states before an approval is asked, and gets the file after it", async () => {
    const at = new Date().toISOString();
    const labels = [
      "account,label_time,label",
      ...Array.from({ length: EVENTS }, (_, index) => `customer-${index},${at},good`),
      `before,2026-01-01T00:00:00Z,fraud`,
    ];
    const file = join(folder(), "labels.csv");
    await writeFile(file, `${labels.join("\n")}\n`);
    const page = await scene.signIn("ana", ["analyst"]);
    await page.goto(`${scene.url}/features/export?features=new_found@1&purpose=default`);
    await page.getByLabel("Labels").setInputFiles(file);
    await page.getByLabel("Also values that were computed later").check();
    await page.getByLabel("Format").selectOption("csv");
    await page.getByLabel("Who gets the file").fill("a recipient by mistake");
    await page.getByLabel("They delete it by").fill(new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10));
    await page.getByLabel("Reason").fill("training of model 7");
    const count = page.getByRole("button", { name: "Count rows and states" });
    const { promise: isChanged, resolve: change } = Promise.withResolvers<void>();
    await page.route("**/exports/features/plan", async (route) => (await isChanged, route.continue()));
    await count.click();
    await page.getByText("Working…").waitFor();
    await page.getByLabel("Who gets the file").fill(HOSTILE);
    change();
    // What was counted is no longer what the form says.
    await count.click();
    const counted = page.getByRole("region", { name: "Accounts by state" });
    await counted.waitFor();
    expect(await counted.innerText()).toMatch(/observed\s+new_found@1\s+10/);
    expect(await scene.drs("approval", "list", "--json")).toBe("");
    await page.getByRole("button", { name: "Ask for the approval of 13 labels" }).click();
    await page.getByText("Next: another person approves").waitFor();
    const other = await scene.signIn("petra", ["privacy"]);
    await other.goto(await page.locator(".next-step .mono").innerText());
    await other.getByText(HOSTILE_SHOWN).waitFor();
    await other.getByRole("button", { name: "Approve" }).click();
    await other.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.getByRole("button", { name: "Go on" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download the file" }).click(),
    ]);
    const text = await readFile(await download.path(), "utf8");
    expect(text.trim().split("\n")).toHaveLength(14);
    expect(text).toContain("new_found__v1");
    expect(scene.takeMessages().filter((message) => !message.startsWith("Failed to load resource"))).toEqual([]);
  });

  test("reads which roles may do what the own may not, and one failed part leaves the others", async () => {
    const page = await scene.signIn("olga", ["operator"]);
    for (const path of ["/features/export", "/features/new_found@1/compare/new_found@2", `/drift/${PATH}`]) {
      await page.goto(`${scene.url}${path}`);
      await page.getByText(/needs the role analyst/).waitFor();
    }
    const analyst = await scene.signIn("ana", ["analyst"]);
    await refuse(analyst, "**/admin/v1/features/describe?*");
    await analyst.goto(`${scene.url}/features/new_found@1`);
    await analyst.getByText("The distribution could not be read").waitFor();
    await analyst.getByText("Adopted").waitFor();
    expect(scene.takeMessages().filter((message) => !message.startsWith("Failed to load resource"))).toEqual([]);
  });
});
