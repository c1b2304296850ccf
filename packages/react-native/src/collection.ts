import type {
  ErrorOutcome,
  ProbeDataById,
  ProbeOutcome,
  RawSignalEvent,
  SkippedOutcome,
} from "@device-risk-signals/contract";
import { PROBE_IDS, type ProbeId } from "@device-risk-signals/contract/catalog/fields";
import { EVENT_TYPE, SCHEMA_VERSION } from "@device-risk-signals/contract/limits";
import type { Settings } from "./configuration.ts";
import { Consent, type ConsentFunction, consents } from "./consent.ts";
import { type Host, platformOf } from "./host.ts";
import { AbortError } from "./misuse.ts";
import { type Observed, observe } from "./observe.ts";
import { type DataFault, probeData } from "./probe-data.ts";
import { quietly } from "./quietly.ts";
import { type Selection, select } from "./selection.ts";
import { Waiting } from "./waiting.ts";

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
  /** Of this collection alone; a probe needs both. */
  readonly ownConsent: Consent | ConsentFunction;
}

/** They measure, and would disturb one another and be disturbed: one after the other, when all else is done. */
const ALONE: ReadonlySet<ProbeId> = new Set([
  "gpu_benchmark",
  "audio_latency",
  "runtime_timing",
  "numeric_consistency",
]);

let calls = 0;
/** Until the measurement that was begun last, in whichever collection, is done. */
let measuring: Promise<unknown> = Promise.resolve();

interface Done {
  readonly outcome: ProbeOutcome;
  readonly durationMs: number;
}

/** One collection, from the clock's first look to the event. */
export class Collection {
  readonly #request: CollectionRequest;
  readonly #host: Host;
  readonly #waiting: Waiting;
  readonly #calls = new Map<string, ProbeId>();
  readonly #withdrawn = new Set<ProbeId>();
  readonly #deadline: number;
  #stopped = false;
  #abort: (fault: AbortError) => void = () => {};

  constructor(request: CollectionRequest, host: Host) {
    this.#request = request;
    this.#host = host;
    this.#waiting = new Waiting(host);
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
    this.#waiting.end();
    this.#abort(new AbortError());
  }

  /** Ends native work for probes that the consent does not hold any more; nothing of them gets into the event. */
  withdraw(consent: Consent | ConsentFunction): void {
    const withdraw = (probe: ProbeId): void => {
      this.#withdrawn.add(probe);
      for (const [call, of] of this.#calls) if (of === probe) this.#cancel(call);
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
    const done: Record<string, Done> = {};
    const timed = async (probe: ProbeId): Promise<void> => {
      this.#assertRunning();
      const start = this.#host.monotonic();
      const outcome = await this.#probe(probe);
      done[probe] = { outcome, durationMs: this.#host.monotonic() - start };
    };
    await Promise.all(PROBE_IDS.filter((probe) => !ALONE.has(probe)).map(timed));
    for (const probe of PROBE_IDS) if (ALONE.has(probe)) await this.#alone(() => timed(probe));
    const consent = this.#request.consent();
    // What was withdrawn meanwhile is as if it had never been asked for.
    const asked = PROBE_IDS.filter((probe) => done[probe]?.outcome.status !== "skipped");
    const lookAgain = async (probe: ProbeId): Promise<void> => {
      if (!(await this.#agrees(consent, probe, Math.max(this.#left(), SECOND_LOOK_MS)))) this.#withdrawn.add(probe);
    };
    await Promise.all(asked.map(lookAgain));
    this.#assertRunning();

    // The contract's order, whoever was done first.
    const probes: Record<string, ProbeOutcome> = {};
    for (const probe of PROBE_IDS) {
      const { outcome, durationMs } = done[probe] as Done;
      const stands = !asked.includes(probe) || this.#stands(consent, probe);
      const { status } = (probes[probe] = stands ? outcome : skipped("consent"));
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

  /** Other collections measure, too. */
  async #alone(work: () => Promise<void>): Promise<void> {
    const before = measuring;
    const mine = this.#waiting.within(this.#left(), () => before).then(work);
    measuring = mine.catch(() => {});
    await mine;
  }

  async #probe(probe: ProbeId): Promise<ProbeOutcome> {
    const settings = this.#request.settings.probes.get(probe);
    if (!settings?.enabled) return skipped("disabled");
    const platform = platformOf(this.#host, probe);
    if (!platform) return skipped("platform");
    const selection = select(probe, settings.fields, platform);
    if (selection.all.size === 0) return skipped("disabled");

    const end = Math.min(this.#deadline, this.#host.monotonic() + settings.timeoutMs);
    const left = (): number => end - this.#host.monotonic();
    const consent = this.#request.consent();
    const agreed = await this.#agrees(consent, probe, left());
    this.#assertRunning();
    if (!agreed || !this.#stands(consent, probe)) return skipped("consent");
    if (left() < SHORTEST_MS) return { status: "timeout" };
    const observed = await this.#withinTime(probe, selection, left());
    return observed ? outcomeOf(probe, selection, observed) : { status: "timeout" };
  }

  async #agrees(consent: Consent | ConsentFunction, probe: ProbeId, milliseconds: number): Promise<boolean> {
    const end = this.#host.monotonic() + milliseconds;
    const asked = (each: Consent | ConsentFunction): Promise<boolean> =>
      consents(each, probe, (begin) => this.#waiting.within(end - this.#host.monotonic(), begin));
    return (await asked(consent)) && asked(this.#request.ownConsent);
  }

  /** What is there when the time is up, or the consent gone, is dropped: `undefined`. */
  async #withinTime(probe: ProbeId, selection: Selection, milliseconds: number): Promise<Observed | undefined> {
    const call = `${++calls}`;
    this.#calls.set(call, probe);
    const isWaitedFor = (): boolean => this.#calls.has(call);
    const task = { call, probe, selection, timeoutMs: milliseconds, isWaitedFor };
    const observed = await this.#waiting.within(milliseconds, () => observe(task, this.#host));
    this.#assertRunning();
    if (!isWaitedFor()) return undefined;
    if (!observed) this.#cancel(call);
    this.#calls.delete(call);
    return observed;
  }

  #cancel(call: string): void {
    this.#calls.delete(call);
    // What can't be told to stop ends at its own bound.
    quietly(() => this.#host.native?.cancel(call));
  }

  /**
   * Whether an answer still counts: a consent that replaced the one that was asked must hold the probe itself, because a
   * function can't be asked in the same turn.
   */
  #stands(asked: Consent | ConsentFunction, probe: ProbeId): boolean {
    const now = this.#request.consent();
    return !this.#withdrawn.has(probe) && (now === asked || (now instanceof Consent && now.probes.has(probe)));
  }

  /** Milliseconds until the deadline. */
  #left(): number {
    return this.#deadline - this.#host.monotonic();
  }

  #assertRunning(): void {
    if (this.#stopped) throw new AbortError();
  }
}

/** Timers are no finer: with less time left than this a probe is not begun. */
const SHORTEST_MS = 1;
/** The second look has this long even when the deadline has passed. */
const SECOND_LOOK_MS = 250;

function outcomeOf(probe: ProbeId, selection: Selection, observed: Observed): ProbeOutcome {
  if ("unavailable" in observed) return skipped(observed.unavailable);
  if ("error" in observed) return failed(observed.error);
  try {
    const data = probeData(probe, observed.values, selection.all);
    return typeof data === "string" ? failed(data) : { status: "success", data };
  } catch {
    // Values of native code may be anything, objects that throw when they are looked at among them.
    return failed("native-failed");
  }
}

/** RFC 3339, which knows the years 0 to 9999: a clock that claims another time is told as near as can be. */
function timestampOf(now: Date): string {
  const [earliest, latest] = [-62_167_219_200_000, 253_402_300_799_999];
  return new Date(Math.min(Math.max(now.getTime() || 0, earliest), latest)).toISOString();
}

function skipped(reason: SkippedReason): SkippedOutcome {
  return { status: "skipped", reason };
}

function failed(error: ErrorCode): ErrorOutcome {
  return { status: "error", error };
}
