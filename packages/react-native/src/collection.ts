import type {
  ErrorOutcome,
  ProbeDataById,
  ProbeOutcome,
  RawSignalEvent,
  SkippedOutcome,
} from "@device-risk-signals/contract";
import { factsOf, type Platform, PROBE_IDS, type ProbeId } from "@device-risk-signals/contract/catalog/fields";
import { EVENT_TYPE, PLATFORMS, SCHEMA_VERSION } from "@device-risk-signals/contract/limits";
import type { ProbeReport, Settings } from "./configuration.ts";
import { type Consent, type ConsentFunction, consents } from "./consent.ts";
import type { Host } from "./host.ts";
import { AbortError } from "./misuse.ts";
import { type Observed, observe } from "./observe.ts";
import { type DataFault, probeData } from "./probe-data.ts";
import { type Selection, select } from "./selection.ts";

/** An event as the SDK makes it: every probe of the release has an outcome. */
export type CollectedEvent = RawSignalEvent & {
  readonly probes: { readonly [Probe in ProbeId]: ProbeOutcome<ProbeDataById[Probe]> };
};

/** Why a probe was not run: a closed vocabulary, looked at in this order. */
export type SkippedReason = "disabled" | "platform" | "consent" | "unsupported" | "permission";

/** Why a probe failed: a closed vocabulary, never a native message. */
export type ErrorCode = DataFault | "native-missing" | "native-failed";

export interface CollectionRequest {
  readonly sessionId: string;
  readonly clientId: string | undefined;
  readonly settings: Settings;
  /** The consent in force when it is called: it may change while the collection runs. */
  readonly consent: () => Consent | ConsentFunction;
}

/** They measure, and would disturb one another and be disturbed: one after the other, when all else is done. */
const ALONE: ReadonlySet<ProbeId> = new Set([
  "gpu_benchmark",
  "audio_latency",
  "runtime_timing",
  "numeric_consistency",
]);

let calls = 0;

/** One collection, from the clock's first look to the event. */
export class Collection {
  readonly #request: CollectionRequest;
  readonly #host: Host;
  readonly #calls = new Map<string, ProbeId>();
  readonly #deadline: number;
  #stopped = false;
  #abort: (fault: AbortError) => void = () => {};

  constructor(request: CollectionRequest, host: Host) {
    this.#request = request;
    this.#host = host;
    this.#deadline = host.monotonic() + request.settings.deadlineMs;
  }

  /** @throws AbortError after `stop`; nothing else, whatever a probe does. */
  run(): Promise<CollectedEvent> {
    return new Promise((resolve, reject) => {
      this.#abort = reject;
      this.#collect().then(resolve, reject);
    });
  }

  /** Native work is told to end, and `run` rejects at once. */
  stop(): void {
    this.#stopped = true;
    for (const call of this.#calls.keys()) this.#cancel(call);
    this.#abort(new AbortError());
  }

  /** Ends native work for probes that a fixed consent does not hold any more; their outcome is decided at the end. */
  withdraw({ probes }: Consent): void {
    for (const [call, probe] of this.#calls) if (!probes.has(probe)) this.#cancel(call);
  }

  async #collect(): Promise<CollectedEvent> {
    const collectedAt = this.#host.now().toISOString();
    const outcomes = new Map<ProbeId, ProbeOutcome>();
    const durations = new Map<ProbeId, number>();
    const timed = async (probe: ProbeId): Promise<void> => {
      const start = this.#host.monotonic();
      outcomes.set(probe, await this.#probe(probe));
      durations.set(probe, this.#host.monotonic() - start);
    };
    await Promise.all(PROBE_IDS.filter((probe) => !ALONE.has(probe)).map(timed));
    for (const probe of PROBE_IDS) if (ALONE.has(probe) && !this.#stopped) await timed(probe);
    await this.#lookAgain(outcomes);

    const probes: Record<string, ProbeOutcome> = {};
    for (const probe of PROBE_IDS) {
      const outcome = outcomes.get(probe) ?? { status: "timeout" };
      probes[probe] = outcome;
      this.#report({ probe, status: outcome.status, durationMs: durations.get(probe) ?? 0 });
    }
    const { sessionId, clientId } = this.#request;
    return {
      session_id: sessionId,
      ...(clientId !== undefined && { client_id: clientId }),
      event_type: EVENT_TYPE,
      schema_version: SCHEMA_VERSION,
      collected_at: collectedAt,
      probes: probes as CollectedEvent["probes"],
    };
  }

  async #probe(probe: ProbeId): Promise<ProbeOutcome> {
    const settings = this.#request.settings.probes.get(probe);
    if (!settings?.enabled) return skipped("disabled");
    const platform = this.#platform();
    if (!platform || !factsOf(probe).platforms.includes(platform)) return skipped("platform");
    const selection = select(probe, settings.fields, platform);
    if (selection.all.size === 0) return skipped("disabled");

    const end = Math.min(this.#deadline, this.#host.monotonic() + settings.timeoutMs);
    const left = (): number => end - this.#host.monotonic();
    if (!(await consents(this.#request.consent(), probe, left(), this.#host))) return skipped("consent");
    if (left() < SHORTEST_MS) return { status: "timeout" };
    const observed = await this.#withinTime(probe, selection, left());
    return observed ? outcomeOf(probe, selection, observed) : { status: "timeout" };
  }

  /** What is there when the time is up is dropped: `undefined`. */
  #withinTime(probe: ProbeId, selection: Selection, milliseconds: number): Promise<Observed | undefined> {
    const call = `${++calls}`;
    this.#calls.set(call, probe);
    const isWaitedFor = (): boolean => this.#calls.has(call) && !this.#stopped;
    return new Promise((resolve) => {
      const timer = this.#host.setTimer(() => {
        this.#cancel(call);
        resolve(undefined);
      }, milliseconds);
      const work = observe({ call, probe, selection, timeoutMs: milliseconds, isWaitedFor }, this.#host);
      void work.then((observed) => {
        this.#calls.delete(call);
        this.#host.clearTimer(timer);
        resolve(observed);
      });
    });
  }

  #cancel(call: string): void {
    this.#calls.delete(call);
    try {
      this.#host.native?.cancel(call);
    } catch {
      // What can't be told to stop ends at its own bound.
    }
  }

  /** What was withdrawn meanwhile is as if it had never been asked for. */
  async #lookAgain(outcomes: Map<ProbeId, ProbeOutcome>): Promise<void> {
    const consent = this.#request.consent();
    const milliseconds = Math.max(this.#deadline - this.#host.monotonic(), SECOND_LOOK_MS);
    const look = async ([probe, { status }]: [ProbeId, ProbeOutcome]): Promise<void> => {
      if (status === "skipped") return;
      if (!(await consents(consent, probe, milliseconds, this.#host))) outcomes.set(probe, skipped("consent"));
    };
    await Promise.all([...outcomes].map(look));
  }

  #report(report: ProbeReport): void {
    try {
      this.#request.settings.onProbe?.(report);
    } catch {
      // The host's telemetry is no reason to lose an event.
    }
  }

  #platform(): Platform | undefined {
    return PLATFORMS.find((platform) => platform === this.#host.platform);
  }
}

/** Timers are no finer: with less time left than this a probe is not begun. */
const SHORTEST_MS = 1;
/** The second look has this long even when the deadline has passed. */
const SECOND_LOOK_MS = 250;

function outcomeOf(probe: ProbeId, selection: Selection, observed: Observed): ProbeOutcome {
  if ("unavailable" in observed) return skipped(observed.unavailable);
  if ("error" in observed) return failed(observed.error);
  const data = probeData(probe, observed.values, selection.all);
  return typeof data === "string" ? failed(data) : { status: "success", data };
}

function skipped(reason: SkippedReason): SkippedOutcome {
  return { status: "skipped", reason };
}

function failed(error: ErrorCode): ErrorOutcome {
  return { status: "error", error };
}
