import type {
  ErrorOutcome,
  OutcomeError,
  ProbeDataById,
  ProbeOutcome,
  RawSignalEvent,
  SkippedOutcome,
  SkippedReason,
} from "@device-risk-signals/contract";
import { PROBE_IDS, type ProbeId } from "@device-risk-signals/contract/catalog/fields";
import { EVENT_TYPE, SCHEMA_VERSION } from "@device-risk-signals/contract/limits";
import type { ResolvedConfiguration } from "./configuration.ts";
import { Consent, type ConsentFunction, consents } from "./consent.ts";
import { type Host, platformOf } from "./host.ts";
import { AbortError } from "./misuse.ts";
import { type Observed, observe } from "./observe.ts";
import { probeData } from "./probe-data.ts";
import { quietly } from "./quietly.ts";
import { type Selection, select } from "./selection.ts";
import { Waiting } from "./waiting.ts";

/** An event that the SDK makes: it has an outcome for every probe of the release. */
export type CollectedEvent = RawSignalEvent & {
  readonly probes: { readonly [Probe in ProbeId]: ProbeOutcome<ProbeDataById[Probe]> };
};

export interface CollectionRequest {
  readonly sessionId: string;
  readonly clientId: string | undefined;
  readonly settings: ResolvedConfiguration;
  /** Returns the active consent. The consent may change while the collection runs. */
  readonly consent: () => Consent | ConsentFunction;
  /** The consent for this collection only. A probe needs both this consent and the active one. */
  readonly collectionConsent: Consent | ConsentFunction;
}

/**
 * Probes that measure time. Parallel work would distort their results, so they run one after the other, after all other
 * probes.
 */
const EXCLUSIVE_PROBES: ReadonlySet<ProbeId> = new Set([
  "gpu_benchmark",
  "audio_latency",
  "runtime_timing",
  "numeric_consistency",
]);

let callCount = 0;
/** Resolves when the latest measurement of any collection has ended. */
let lastMeasurement: Promise<unknown> = Promise.resolve();

interface TimedOutcome {
  readonly outcome: ProbeOutcome;
  readonly durationMs: number;
}

/** One collection: it begins with the first reading of the clock, and ends with the event. */
export class Collection {
  readonly #request: CollectionRequest;
  readonly #host: Host;
  readonly #waiting: Waiting;
  /** The probes whose native answers the collection awaits, by the names of the calls. */
  readonly #calls = new Map<string, ProbeId>();
  readonly #withdrawn = new Set<ProbeId>();
  readonly #deadline: number;
  #isStopped = false;
  #abort: (error: AbortError) => void = () => {};

  constructor(request: CollectionRequest, host: Host) {
    this.#request = request;
    this.#host = host;
    this.#waiting = new Waiting(host);
    this.#deadline = host.monotonic() + request.settings.deadlineMs;
  }

  /** @throws AbortError after `stop`; no other error, even if a probe fails */
  run(): Promise<CollectedEvent> {
    return new Promise((resolve, reject) => {
      this.#abort = reject;
      this.#collect().then(resolve, reject);
    });
  }

  /** Cancels native work. `run` rejects at once. */
  stop(): void {
    this.#isStopped = true;
    for (const call of this.#calls.keys()) this.#cancel(call);
    this.#waiting.end();
    this.#abort(new AbortError());
  }

  /** Ends native work for probes that the new consent does not include. The event contains no value of these probes. */
  withdraw(consent: Consent | ConsentFunction): void {
    const withdraw = (probe: ProbeId): void => {
      this.#withdrawn.add(probe);
      for (const [call, probeOfCall] of this.#calls) if (probeOfCall === probe) this.#cancel(call);
    };
    if (consent instanceof Consent) {
      for (const probe of PROBE_IDS) if (!consent.probes.has(probe)) withdraw(probe);
      return;
    }
    for (const probe of this.#calls.values()) {
      void this.#agrees(consent, probe, this.#left()).then((agreed) => agreed || withdraw(probe));
    }
  }

  async #collect(): Promise<CollectedEvent> {
    const collectedAt = timestampOf(this.#host.now());
    const timedOutcomes: Record<string, TimedOutcome> = {};
    const timed = async (probe: ProbeId): Promise<void> => {
      this.#assertRunning();
      const start = this.#host.monotonic();
      const outcome = await this.#probe(probe);
      timedOutcomes[probe] = { outcome, durationMs: this.#host.monotonic() - start };
    };
    await Promise.all(PROBE_IDS.filter((probe) => !EXCLUSIVE_PROBES.has(probe)).map(timed));
    for (const probe of PROBE_IDS) if (EXCLUSIVE_PROBES.has(probe)) await this.#exclusively(() => timed(probe));
    const consent = this.#request.consent();
    // Only probes that ran need a second check of the consent.
    const ran = PROBE_IDS.filter((probe) => timedOutcomes[probe]?.outcome.status !== "skipped");
    const checkAgain = async (probe: ProbeId): Promise<void> => {
      if (!(await this.#agrees(consent, probe, Math.max(this.#left(), SECOND_CHECK_MS)))) this.#withdrawn.add(probe);
    };
    await Promise.all(ran.map(checkAgain));
    this.#assertRunning();

    // The event lists probes in the contract's order, and not in the order in which they ended.
    const probes: Record<string, ProbeOutcome> = {};
    for (const probe of PROBE_IDS) {
      const { outcome, durationMs } = timedOutcomes[probe] as TimedOutcome;
      const isKept = !ran.includes(probe) || this.#isInForce(consent, probe);
      const { status } = (probes[probe] = isKept ? outcome : skipped("consent"));
      quietly(() => this.#request.settings.onProbe?.({ probe, status, durationMs }));
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

  /**
   * Runs the work when no other measurement runs, in this or another collection. The wait ends at the deadline, after
   * which no probe starts.
   */
  async #exclusively(work: () => Promise<void>): Promise<void> {
    const previousMeasurement = lastMeasurement;
    const ownMeasurement = this.#waiting.within(this.#left(), () => previousMeasurement).then(work);
    lastMeasurement = ownMeasurement.catch(() => {});
    await ownMeasurement;
  }

  async #probe(probe: ProbeId): Promise<ProbeOutcome> {
    const settings = this.#request.settings.probes.get(probe);
    if (!settings?.enabled) return skipped("disabled");
    const platform = platformOf(this.#host, probe);
    if (!platform) return skipped("platform");
    const selection = select(probe, settings.fields, platform);
    if (selection.fields.size === 0) return skipped("disabled");

    const end = Math.min(this.#deadline, this.#host.monotonic() + settings.timeoutMs);
    const millisecondsLeft = (): number => end - this.#host.monotonic();
    const consent = this.#request.consent();
    const agreed = await this.#agrees(consent, probe, millisecondsLeft());
    this.#assertRunning();
    if (!agreed || !this.#isInForce(consent, probe)) return skipped("consent");
    if (millisecondsLeft() < MIN_REMAINING_MS) return { status: "timeout" };
    const observed = await this.#withinTime(probe, selection, millisecondsLeft());
    return observed ? outcomeOf(probe, selection, observed) : { status: "timeout" };
  }

  async #agrees(consent: Consent | ConsentFunction, probe: ProbeId, milliseconds: number): Promise<boolean> {
    const end = this.#host.monotonic() + milliseconds;
    const agrees = (each: Consent | ConsentFunction): Promise<boolean> =>
      consents(each, probe, (begin) => this.#waiting.within(end - this.#host.monotonic(), begin));
    return (await agrees(consent)) && agrees(this.#request.collectionConsent);
  }

  /** Resolves to `undefined` if the time is up or the consent was withdrawn. An answer that comes later is dropped. */
  async #withinTime(probe: ProbeId, selection: Selection, milliseconds: number): Promise<Observed | undefined> {
    const call = `${++callCount}`;
    this.#calls.set(call, probe);
    const isAwaited = (): boolean => this.#calls.has(call);
    const task = { call, probe, selection, timeoutMs: milliseconds, isAwaited };
    const observed = await this.#waiting.within(milliseconds, () => observe(task, this.#host));
    this.#assertRunning();
    if (!isAwaited()) return undefined;
    if (!observed) this.#cancel(call);
    this.#calls.delete(call);
    return observed;
  }

  #cancel(call: string): void {
    this.#calls.delete(call);
    // If native code fails to cancel the work, the work ends at its own time limit.
    quietly(() => this.#host.native?.cancel(call));
  }

  /**
   * Whether the answer of the checked consent still counts. If another consent has replaced the checked one, the new
   * consent must be a fixed set that includes the probe, because a function could not answer in this turn of the event
   * loop.
   */
  #isInForce(checked: Consent | ConsentFunction, probe: ProbeId): boolean {
    const currentConsent = this.#request.consent();
    return (
      !this.#withdrawn.has(probe) &&
      (currentConsent === checked || (currentConsent instanceof Consent && currentConsent.probes.has(probe)))
    );
  }

  /** Milliseconds until the deadline. */
  #left(): number {
    return this.#deadline - this.#host.monotonic();
  }

  #assertRunning(): void {
    if (this.#isStopped) throw new AbortError();
  }
}

/** The resolution of timers. A probe does not start if less time is left. */
const MIN_REMAINING_MS = 1;
/** The least time for the second check of the consent, even if the deadline has passed. */
const SECOND_CHECK_MS = 250;

function outcomeOf(probe: ProbeId, selection: Selection, observed: Observed): ProbeOutcome {
  if ("unavailable" in observed) return skipped(observed.unavailable);
  if ("error" in observed) return failed(observed.error);
  try {
    const data = probeData(probe, observed.values, selection.fields);
    return typeof data === "string" ? failed(data) : { status: "success", data };
  } catch {
    // Native code may return any value, even an object whose members throw when they are read.
    return failed("native-failed");
  }
}

/** RFC 3339 covers the years 0 to 9999. A time outside these years becomes the nearest valid time. */
function timestampOf(now: Date): string {
  const [earliest, latest] = [-62_167_219_200_000, 253_402_300_799_999];
  return new Date(Math.min(Math.max(now.getTime() || 0, earliest), latest)).toISOString();
}

function skipped(reason: SkippedReason): SkippedOutcome {
  return { status: "skipped", reason };
}

function failed(error: OutcomeError): ErrorOutcome {
  return { status: "error", error };
}
