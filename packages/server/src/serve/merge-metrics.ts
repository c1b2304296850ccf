/** Makes one page of metrics for several processes. */
import { type Aggregator, AggregatorRegistry, type Registry } from "prom-client";

/** A metric with its values, as `Registry.getMetricsAsJSON` gives it. */
export interface MetricSnapshot {
  readonly name: string;
  readonly type: string;
  readonly aggregator: Aggregator;
}

export const snapshotOf = async (registry: Registry): Promise<readonly MetricSnapshot[]> =>
  (await registry.getMetricsAsJSON()) as unknown as readonly MetricSnapshot[];

/**
 * Replaces two aggregators of prom-client: an average of event loop lags would hide a busy process, and the page has
 * the earliest start time, which is that of the supervisor.
 */
const REPLACED_AGGREGATORS: Partial<Readonly<Record<Aggregator, Aggregator>>> = { average: "max", omit: "min" };

/** Adds up counters and histograms. The aggregator of each gauge decides how its values are combined. */
export function mergeMetrics(processes: readonly (readonly MetricSnapshot[])[]): Registry {
  const adapted = processes.map((metrics) =>
    metrics.map((metric) => ({ ...metric, aggregator: REPLACED_AGGREGATORS[metric.aggregator] ?? metric.aggregator })),
  );
  return AggregatorRegistry.aggregate(adapted);
}

/** The totals of processes that have ended. Without them, counters would decrease. */
export function totalsOf(processes: readonly (readonly MetricSnapshot[])[]): readonly MetricSnapshot[] {
  const totals = processes.map((metrics) => metrics.filter(({ type }) => type === "counter" || type === "histogram"));
  return mergeMetrics(totals).getMetricsAsArray() as unknown as readonly MetricSnapshot[];
}
