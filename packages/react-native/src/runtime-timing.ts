import type { Host } from "./host.ts";

const CLOCK_SAMPLES = 256;
const LOOP_SAMPLES = 32;
const ROUND_TRIPS = 5;

/** The JavaScript half of `runtime_timing`: what its fields mean stands in the catalog. */
export async function observeRuntimeTiming(
  wanted: ReadonlySet<string>,
  host: Host,
  stopped: () => boolean,
): Promise<Readonly<Record<string, unknown>>> {
  const values: Record<string, unknown> = { jsClockSource: host.clockSource };
  if (wanted.has("jsTimerResolutionMs") || wanted.has("jsTimerSampleCount")) Object.assign(values, clock(host));
  if ([...wanted].some((name) => name.startsWith("eventLoop"))) Object.assign(values, await eventLoop(host, stopped));
  if (wanted.has("bridgeRoundTripMs") && host.native) {
    const trips: number[] = [];
    for (let trip = 0; trip < ROUND_TRIPS && !stopped(); trip++) {
      const start = host.monotonic();
      await host.native.echo(trip);
      trips.push(host.monotonic() - start);
    }
    if (trips.length > 0) values["bridgeRoundTripMs"] = quantile(trips, 0.5);
  }
  return values;
}

/** The smallest step above zero; left out where the clock did not move while it was looked at. */
function clock(host: Host): Readonly<Record<string, number>> {
  let smallest = Number.POSITIVE_INFINITY;
  let last = host.monotonic();
  for (let sample = 0; sample < CLOCK_SAMPLES; sample++) {
    const now = host.monotonic();
    if (now > last) smallest = Math.min(smallest, now - last);
    last = now;
  }
  return {
    jsTimerSampleCount: CLOCK_SAMPLES,
    ...(Number.isFinite(smallest) && { jsTimerResolutionMs: smallest }),
  };
}

/** How late a timer of 0 ms comes. */
async function eventLoop(host: Host, stopped: () => boolean): Promise<Readonly<Record<string, number>>> {
  const delays: number[] = [];
  while (delays.length < LOOP_SAMPLES && !stopped()) {
    const start = host.monotonic();
    await new Promise<void>((resolve) => void host.setTimer(resolve, 0));
    delays.push(host.monotonic() - start);
  }
  const median = quantile(delays, 0.5);
  return {
    eventLoopSampleCount: delays.length,
    eventLoopP50Ms: median,
    eventLoopP95Ms: quantile(delays, 0.95),
    eventLoopMadMs: quantile(
      delays.map((delay) => Math.abs(delay - median)),
      0.5,
    ),
  };
}

/** Nearest rank. */
function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
