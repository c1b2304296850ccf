/** Makes the rules and the dashboard of deploy/monitoring from the page of alerts and the declared metrics. */
import type { Metric } from "./metrics-page.ts";

interface Alert {
  readonly name: string;
  readonly forTime: string;
  readonly severity: string;
  readonly expression: string;
  readonly section: string;
}

/** The alerts of the page: blocks of PromQL that begin with a comment of name, time and severity. */
export function alertsOf(page: string): readonly Alert[] {
  return page.split(/^## /m).flatMap((text) => {
    const section = text.split("\n", 1)[0] ?? "";
    return [...text.matchAll(/```promql\n# (\w+), (\w+), (page|ticket)\n(.*?)\n```/gs)].map(
      ([, name = "", forTime = "", severity = "", expression = ""]) => {
        return { name, forTime, severity, expression: expression.replaceAll(/\s+/g, " "), section };
      },
    );
  });
}

const GENERATED = "# Generated from docs/operator/alerts.md by `npm run generate`. Do not edit.\n";

const anchorOf = (section: string): string =>
  section
    .toLowerCase()
    .replaceAll(/[^\w -]/g, "")
    .replaceAll(" ", "-");

export function alertRules(page: string, metrics: readonly Metric[]): string {
  const alerts = alertsOf(page);
  const known = new Set(metrics.map(({ name }) => name));
  for (const { name, expression } of alerts) {
    for (const [metric] of expression.matchAll(/\bdrs_\w+/g)) {
      if (!known.has(metric.replace(/_bucket$/, ""))) throw new Error(`the alert ${name} names no metric: ${metric}`);
    }
  }
  const rules = alerts.map(
    ({ name, forTime, severity, expression, section }) => `      - alert: ${name}
        expr: ${JSON.stringify(expression)}
        for: ${forTime}
        labels: { severity: ${severity} }
        annotations: { summary: ${JSON.stringify(section)}, runbook: "docs/operator/alerts.md#${anchorOf(section)}" }
`,
  );
  return `${GENERATED}groups:\n  - name: device-risk-signals\n    rules:\n${rules.join("")}`;
}

const SECONDS = /_seconds(?:$|_bucket)/;

/** What a panel shows of a metric: rates of counters, quantiles of histograms, the worst server of a gauge. */
function queriesOf({ name, type, labelNames }: Metric): readonly (readonly [expression: string, legend: string])[] {
  const by = labelNames.length === 0 ? "" : ` by (${labelNames.join(", ")})`;
  const legend = labelNames.map((label) => `{{${label}}}`).join(" ");
  if (type === "counter") return [[`sum${by} (rate(${name}[5m]))`, legend]];
  if (type === "gauge") return [[`${name === "drs_dependency_up" ? "min" : "max"}${by} (${name})`, legend]];
  return [0.5, 0.99].map((share) => [
    `histogram_quantile(${share}, sum by (le) (rate(${name}_bucket[5m])))`,
    `${share * 100} %`,
  ]);
}

const WIDTH = 8;
const HEIGHT = 7;

/** A dashboard for Grafana: a panel for each metric. */
export function dashboard(metrics: readonly Metric[]): unknown {
  const panels = metrics.map((metric, index) => {
    const unit = metric.name.includes("timestamp") ? "dateTimeAsIso" : SECONDS.test(metric.name) ? "s" : "short";
    return {
      id: index + 1,
      type: "timeseries",
      title: metric.name,
      description: metric.help,
      datasource: { type: "prometheus", uid: "${source}" },
      gridPos: { x: (index % 3) * WIDTH, y: Math.floor(index / 3) * HEIGHT, w: WIDTH, h: HEIGHT },
      fieldConfig: { defaults: { unit: metric.type === "counter" ? "ops" : unit, min: 0 }, overrides: [] },
      targets: queriesOf(metric).map(([expr, legendFormat], target) => {
        return { refId: String.fromCodePoint(65 + target), expr, legendFormat };
      }),
    };
  });
  return {
    title: "Device Risk Signals",
    uid: "device-risk-signals",
    schemaVersion: 39,
    time: { from: "now-6h", to: "now" },
    templating: { list: [{ name: "source", type: "datasource", query: "prometheus" }] },
    panels,
  };
}
