/** Short stories of the integrator, the mobile lead, the analyst and the operator: by each hand, within their clicks. */
import { beforeAll, describe, expect, test } from "vitest";
import { Hand, rail, WAYS } from "./hand.ts";
import { hasChromium, useConsole } from "./scene.ts";

const scene = useConsole();

beforeAll(async () => {
  if (!hasChromium) return;
  await scene.store("4711", {
    fonts: { status: "timeout" },
    network: { status: "success", data: { newByMouse: true, newByKeyboard: true, isMetered: "text" } },
  });
  await scene.store("4711", "full-ios");
  for (let count = 0; count < 3; count++) await scene.post("4711", { observations: { schema_version: "1" } });
  // The counters are written each ten seconds, and at the end of the server.
  await scene.restart();
});

describe.skipIf(!hasChromium)("a person (skipped without Chromium)", () => {
  test.each(WAYS)(
    "whose request got 400 finds by %s the rule, the SDK version and how often, in three",
    async (way) => {
      const page = await scene.signIn("ivo", ["operator"]);
      const hand = new Hand(way);
      await hand.press(rail(page, "Rejected requests"));
      await hand.press(page.locator("summary", { hasText: "type-wrong" }));
      const shown = await page.locator("details[open]").innerText();
      expect(shown).toContain("3");
      expect(shown).toContain("/observations/schema_version");
      expect(shown).toContain("SDK 1.2.3");
      expect(shown).toContain("A value of another JSON type than the contract requires.");
      expect(shown).toContain("urn:problem:device-risk-signals:request-invalid");
      expect(hand.count).toBeLessThanOrEqual(3);
      expect(scene.takeMessages()).toEqual([]);
    },
  );

  test.each(WAYS)(
    "finds by %s which probe times out on which OS and SDK version, and events of it, in four",
    async (way) => {
      const page = await scene.signIn("mia", ["analyst"]);
      const hand = new Hand(way);
      await hand.press(rail(page, "Probe health"));
      const row = page.getByRole("row", { name: /^Fonts/ });
      await row.getByRole("img", { name: /timeout \d+ % \(1\)/ }).waitFor();
      await hand.press(row.getByRole("link").first());
      await page.getByRole("heading", { name: /^Fonts, / }).waitFor();
      expect(await page.getByRole("row", { name: /^timeout/ }).innerText()).toMatch(/timeout\s+1\s+\d+ %/);
      const byOs = page.getByRole("table", { name: "By OS version" }).getByRole("row", { name: /timeout 100 %/ });
      expect(await byOs.innerText()).toMatch(/^android unknown\b/);
      await hand.press(page.getByRole("link", { name: "Example events" }));
      await page.getByRole("row").nth(1).waitFor();
      expect(new URL(page.url()).searchParams.get("sdk_version")).toBe("1.2.3");
      expect(hand.count).toBeLessThanOrEqual(4);
      expect(scene.takeMessages()).toEqual([]);
    },
  );

  test.each(WAYS)("reviews by %s a field that the catalog does not know, in six", async (way) => {
    const page = await scene.signIn("ana", ["analyst"]);
    const hand = new Hand(way);
    await hand.press(rail(page, "New fields"));
    const row = page.getByRole("row", { name: new RegExp(`network\\.newBy${way}`, "i") });
    await hand.press(row.getByRole("button", { name: /^Review/ }));
    await hand.type(page.getByLabel("Reason"), "a field of the next SDK version");
    await hand.press(page.getByRole("dialog").getByRole("button", { name: "Accept" }));
    await expect.poll(() => row.innerText()).toContain("accepted");
    expect(hand.count).toBeLessThanOrEqual(6);
    expect(scene.takeMessages()).toEqual([]);
  });

  test.each(WAYS)(
    "sees by %s whether it is healthy, which dependency is slow, what will be full and what runs, in two",
    async (way) => {
      const page = await scene.signIn("olga", ["operator"]);
      const hand = new Hand(way);
      await hand.press(rail(page, "Health"));
      await page.getByRole("heading", { name: "Capacity" }).waitFor();
      await page.getByRole("heading", { name: /to do now|has to be done at once/ }).waitFor();
      const shown = await page.locator("main").innerText();
      expect(shown).toMatch(/Nothing has to be done at once|to do now/);
      expect(shown).toMatch(/^database\s+answered in [\d,]+ ms$/m);
      expect(shown).toMatch(/The disk is full\s+(in [\d,]+ days|never at this rate)/);
      expect(shown).toMatch(/Database\s+[\d.]+ MiB/);
      expect(shown).toContain("Work under way");
      expect(hand.count).toBeLessThanOrEqual(2);
      expect(scene.takeMessages()).toEqual([]);
    },
  );

  test("sees on the overview what waits for the own roles, and nothing of others", async () => {
    const page = await scene.signIn("pia", ["privacy"]);
    await page.getByText("Overdue requests").waitFor();
    await page.getByText("Nothing runs, and nothing waits.").waitFor();
    const shown = await page.locator("main").innerText();
    expect(shown).not.toContain("Rejected in 24 hours");
    expect(shown).not.toContain("Your open cases");
    expect(scene.takeMessages()).toEqual([]);
  });
});

describe.skipIf(!hasChromium)("the live view (skipped without Chromium)", () => {
  test("shows an event within 1.5 seconds of its answer, and continues next to a chosen one", async () => {
    const page = await scene.signIn("ivo", ["analyst"]);
    await rail(page, "Live").click();
    await page.locator(".row-button").first().waitFor();
    const delays: number[] = [];
    for (let count = 0; count < 5; count++) {
      await scene.store(`live-${count}`, {});
      const answeredAt = Date.now();
      await page.getByRole("link", { name: `live-${count}`, exact: true }).waitFor();
      delays.push(Date.now() - answeredAt);
    }
    // A busy machine delays the page, too.
    expect(Math.min(...delays)).toBeLessThan(1_500);
    await page.locator(".row-button").first().click();
    await page.getByRole("complementary", { name: "The chosen event" }).waitFor();
    await page.keyboard.press("p");
    await scene.store("while-paused", {});
    await page.getByText(/Paused\. 1 newer event waits/).waitFor();
    expect(await page.getByRole("link", { name: "while-paused" }).count()).toBe(0);
    await page.keyboard.press("p");
    await page.getByRole("link", { name: "while-paused" }).waitFor();
    await page.getByRole("link", { name: "while-paused" }).click();
    await page.getByRole("list", { name: "Chosen filters" }).getByText("while-paused").waitFor();
    await page.getByRole("row").nth(1).waitFor();
    expect(await page.getByRole("row").count()).toBe(2);
    expect(new URL(page.url()).searchParams.get("account")).toMatch(/^"?while-paused"?$/);
    expect(scene.takeMessages()).toEqual([]);
  });
});
