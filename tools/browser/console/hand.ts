/** How a person uses the pages: a walk through a story takes a hand, by mouse or by keyboard alone, and counts. */
import type { Locator, Page } from "playwright-core";

export const WAYS = ["mouse", "keyboard"] as const;
type Way = (typeof WAYS)[number];

/** More than any page has. */
const MAX_TABS = 200;

/** The link to a screen. */
export const rail = (page: Page, name: string): Locator =>
  page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name, exact: true });

export class Hand {
  /** Clicks, or presses of Enter and of the page's own keys; Tab only moves the focus. */
  count = 0;
  readonly #way: Way;

  constructor(way: Way) {
    this.#way = way;
  }

  /** Follows a link or presses a button. @param key the key that the page has for it. */
  async press(target: Locator, key?: string): Promise<void> {
    this.count++;
    if (this.#way === "mouse") return target.click();
    await target.waitFor();
    if (key !== undefined) return target.page().keyboard.press(key);
    await focus(target);
    await target.page().keyboard.press("Enter");
  }

  /** Types into a field, which replaces its text. */
  async type(field: Locator, text: string): Promise<void> {
    if (this.#way === "mouse") return field.fill(text);
    await focus(field);
    await field.page().keyboard.press("Control+A");
    await field.page().keyboard.type(text);
  }
}

/** Runs in the page. */
const hasFocus = (element: { readonly ownerDocument: { readonly activeElement: unknown } }): boolean =>
  element.ownerDocument.activeElement === element;

/** Presses Tab until the element has the focus. */
async function focus(target: Locator): Promise<void> {
  await target.waitFor();
  for (let tabs = 0; tabs < MAX_TABS; tabs++) {
    if (await target.evaluate(hasFocus)) return;
    await target.page().keyboard.press("Tab");
  }
  throw new Error(`Tab never reaches ${String(target)}`);
}
