import type { Host } from "./host.ts";

const CLOCK_SAMPLES = 256;
const LOOP_SAMPLES = 32;
const ROUND_TRIPS = 5;

/**
 * The JavaScript half of `runtime_timing`. The catalog defines its fields. A number that is not finite is left out of
 * the event.
 */
export async function observeRuntimeTiming(
  wanted: ReadonlySet<string>,
  host: Host,
  stopped: () => boolean,
): Promise<Readonly<Record<string, unknown>>> {
  const { native } = host;
  const wants = (prefix: string): boolean => [...wanted].some((name) => name.startsWith(prefix));
  const timesOf = async (rounds: number, work: (round: number) => Promise<unknown>): Promise<readonly number[]> => {
    const times: number[] = [];
    while (times.length < rounds && !stopped()) {
      const start = host.monotonic();
      await work(times.length);
      times.push(host.monotonic() - start);
    }
    return times;
  };
  const timer = (): Promise<void> => new Promise((resolve) => void host.setTimer(resolve, 0));
  return {
    jsClockSource: host.clockSource,
    ...(wants("jsTimer") && clock(host)),
    ...(wants("eventLoop") && eventLoop(await timesOf(LOOP_SAMPLES, timer))),
    ...(wants("bridge") &&
      native && { bridgeRoundTripMs: quantile(await timesOf(ROUND_TRIPS, (trip) => native.echo(trip)), 0.5) }),
  };
}

/**
 * The number of readings of the clock, and its smallest step in milliseconds. The step is not finite if the clock did
 * not advance during the measurement.
 */
function clock(host: Host): Readonly<Record<string, number>> {
  let smallest = Number.POSITIVE_INFINITY;
  let previousReading = host.monotonic();
  for (let sample = 0; sample < CLOCK_SAMPLES; sample++) {
    const reading = host.monotonic();
    if (reading > previousReading) smallest = Math.min(smallest, reading - previousReading);
    previousReading = reading;
  }
  return { jsTimerSampleCount: CLOCK_SAMPLES, jsTimerResolutionMs: smallest };
}

/** @param delays milliseconds by which timers of 0 ms were late. */
function eventLoop(delays: readonly number[]): Readonly<Record<string, number>> {
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

/** The quantile by the nearest-rank method. */
function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
