/** Tests of the rules for Prometheus, with its own checker where the system has it. */
import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { alertRules, alertsOf } from "./monitoring.ts";
import { serverMetrics } from "./metrics-page.ts";

const ROOT = join(import.meta.dirname, "../..");
const page = readFileSync(join(ROOT, "docs/operator/alerts.md"), "utf8");
const [promtool] = globSync("{/usr/bin,/usr/local/bin}/promtool");

test("each block of PromQL of the page is an alert with a name of its own", () => {
  const names = alertsOf(page).map(({ name }) => name);
  expect(new Set(names).size).toBe([...page.matchAll(/```promql/g)].length);
});

test("an alert on a metric that the server lacks is refused", () => {
  expect(() => alertRules(page.replaceAll("drs_hold_", "drs_held_"), serverMetrics())).toThrow(
    /drs_held_reviews_overdue/,
  );
});

test.skipIf(promtool === undefined)("promtool accepts the rules", () => {
  const output = execFileSync(promtool ?? "", ["check", "rules", join(ROOT, "deploy/monitoring/alerts.yaml")]);
  expect(output.toString()).toContain("SUCCESS");
});
