/** One page of metrics for several processes. */
import { type Aggregator, AggregatorRegistry, type Registry } from "prom-client";

/** A metric with its values, as `Registry.getMetricsAsJSON` gives it. */
export interface MetricSnapshot {
  readonly name: string;
  readonly type: string;
  readonly aggregator: Aggregator;
}

export const snapshotOf = async (registry: Registry): Promise<readonly MetricSnapshot[]> =>
  (await registry.getMetricsAsJSON()) as unknown as readonly MetricSnapshot[];

/** An average of event loop lags hides the busy process; the earliest start is that of the supervisor. */
const REPLACED_AGGREGATORS: Partial<Readonly<Record<Aggregator, Aggregator>>> = { average: "max", omit: "min" };

/** Counters and histograms are summed, gauges as each says. */
export function mergeMetrics(processes: readonly (readonly MetricSnapshot[])[]): Registry {
  const adapted = processes.map((metrics) =>
    metrics.map((metric) => ({ ...metric, aggregator: REPLACED_AGGREGATORS[metric.aggregator] ?? metric.aggregator })),
  );
  return AggregatorRegistry.aggregate(adapted);
}

/** What remains of the metrics of processes that have ended: without it, counters would fall. */
export function totalsOf(processes: readonly (readonly MetricSnapshot[])[]): readonly MetricSnapshot[] {
  const totals = processes.map((metrics) => metrics.filter(({ type }) => type === "counter" || type === "histogram"));
  return mergeMetrics(totals).getMetricsAsArray() as unknown as readonly MetricSnapshot[];
}
