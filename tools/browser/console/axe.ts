import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** The violations of WCAG 2.2 AA and of good practice that axe finds on a page: one line each. */
export async function axe(page: Page): Promise<readonly string[]> {
  await page.evaluate(SOURCE);
  const { violations } = await page.evaluate<{ violations: readonly Violation[] }>("axe.run(document)");
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}
