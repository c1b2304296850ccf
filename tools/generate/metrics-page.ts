import { Dependencies } from "../../packages/server/src/base/dependencies/dependencies.ts";
import { createMetrics } from "../../packages/server/src/runtime/metrics.ts";
import { IngestProcesses } from "../../packages/server/src/serve/ingest-processes.ts";
import { code, table } from "./table.ts";

export interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labelNames: readonly string[];
}

/** The server's own metrics, with those of a supervisor. */
export function serverMetrics(): readonly Metric[] {
  const { registry } = createMetrics(() => 0, new Dependencies(0));
  // Without a process it needs nothing but their number.
  const none = { count: 0 } as ConstructorParameters<typeof IngestProcesses>[0];
  new IngestProcesses(none).register(registry);
  // The types of `prom-client` omit the members of a metric.
  const metrics = registry.getMetricsAsArray() as unknown as readonly Metric[];
  return metrics.filter(({ name }) => name.startsWith("drs_"));
}

export function metricsPage(): string {
  const rows = serverMetrics().map(({ name, type, help, labelNames }) => {
    return [code(name), type, labelNames.map(code).join(", "), help];
  });
  return `<!-- Generated from the declared metrics by \`npm run generate\`. Do not edit. -->

# Metrics

The admin listener serves these at \`/metrics\` ([monitoring](operator/monitoring.md)), and the \`process_*\` and \`nodejs_*\` metrics of
\`prom-client\`. No label holds a value that a client sent. Requests that the HTTP parser rejects, and unknown paths, are not counted.

${table(["metric", "type", "labels", "meaning"], rows)}
`;
}
