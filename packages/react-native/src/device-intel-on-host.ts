import type { ProbeId } from "@device-risk-signals/contract/catalog/fields";
import { MAX_SESSION_ID_LENGTH } from "@device-risk-signals/contract/limits";
import { type CollectedEvent, Collection } from "./collection.ts";
import {
  checkConsent,
  NO_CONSENT,
  type Configuration,
  type ProbeSettings,
  readConfiguration,
  readMembers,
  readProbes,
  type ResolvedConfiguration,
} from "./configuration.ts";
import { Consent, type ConsentFunction, consents, isConsent } from "./consent.ts";
import { type Host, platformOf } from "./host.ts";
import { beginObservation, endObservation, type ObservationWindow } from "./observation.ts";
import { AbortError, MisuseError, type Problem } from "./misuse.ts";
import { LONE_SURROGATE } from "./probe-data.ts";
import { Waiting } from "./waiting.ts";

/** The part of the platform's `AbortSignal` that the SDK uses. */
export interface StopSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

export interface CollectOptions {
  /** The session value of the action that your server issued, 1 to 128 characters. It becomes `session_id`. */
  readonly sessionId: string;
  /**
   * Consent for this collection, in addition to the active consent. A probe needs both, so this option can only
   * withhold consent.
   */
  readonly consent?: Consent | ConsentFunction;
  /**
   * Settings for this collection only. A probe, or a member of a probe, that is left out keeps its configured settings.
   */
  readonly probes?: NonNullable<Configuration["probes"]>;
  /** Client id for this collection, instead of the one from `setClientId`. */
  readonly clientId?: string;
  /** Aborts the collection and its native work; `collect` rejects with an `AbortError`. */
  readonly signal?: StopSignal;
}

const NO_PROBES = new Consent([]);
/** The probe whose fields an observation window observes. */
const OBSERVING_PROBE: ProbeId = "transaction_safety";
/** Milliseconds within which a consent function must answer for an observation window. */
const CONSENT_MS = 1_000;
const MAX_CLIENT_ID_LENGTH = 1_024;

/** `DeviceIntel` on any host: on React Native, in the Jest mock, or in a test. */
export class DeviceIntelOnHost {
  #settings: ResolvedConfiguration;
  #problems: Problem[] = [];
  readonly #host: () => Host;
  readonly #running = new Set<Collection>();
  readonly #windows = new Set<ObservationWindow>();
  #consent: Consent | ConsentFunction;
  #clientId: string | undefined;

  /**
   * The constructor reads nothing from the device. `collect` reports every problem of a wrong configuration.
   * @param host returns the host. The constructor does not call it.
   */
  constructor(configuration: Configuration, host: () => Host) {
    this.#settings = readConfiguration(configuration, this.#problems);
    this.#consent = this.#settings.consent ?? NO_PROBES;
    this.#host = host;
  }

  /**
   * Sets the account; call it only after authentication. `undefined` clears the account. The client id is no proof of
   * identity: the endpoint derives the account from the request's credentials.
   * @throws MisuseError if the id is empty, longer than 1,024 characters, no well-formed text, or contains U+0000.
   */
  setClientId(clientId: string | undefined): void {
    const problems: Problem[] = [];
    checkClientId(clientId, problems);
    throwMisuse(problems);
    this.#clientId = clientId;
  }

  /**
   * Replaces the configuration for later collections. If the new configuration has a `consent`, this consent replaces
   * the active consent as `setConsent` does; otherwise the active consent stays. If the new configuration disables
   * `transaction_safety`, running observation windows end.
   * @throws MisuseError that names every problem; the previous configuration then stays active.
   */
  setConfig(configuration: Configuration): void {
    const problems: Problem[] = [];
    const settings = readConfiguration(configuration, problems);
    throwMisuse(problems);
    this.#settings = settings;
    this.#problems = problems;
    if (settings.consent) this.setConsent(settings.consent);
    if (!settings.probes.get(OBSERVING_PROBE)?.enabled) for (const window of this.#windows) window.stop();
  }

  /**
   * Replaces the consent, also for running collections. Running probes without consent are stopped.
   * @throws MisuseError if the value is neither a result of `consentFor` nor a function; the previous consent then
   * stays active.
   */
  setConsent(consent: Consent | ConsentFunction): void {
    if (!isConsent(consent)) throw new MisuseError([NO_CONSENT]);
    this.#consent = consent;
    for (const collection of this.#running) collection.withdraw(consent);
    for (const window of this.#windows) {
      if (!(consent instanceof Consent)) void this.#consentsToObserve(consent).then((may) => may || window.stop());
      else if (!consent.probes.has(OBSERVING_PROBE)) window.stop();
    }
  }

  /**
   * Collects one event, with an outcome for every probe. A failing probe never makes the promise reject.
   * @throws MisuseError that names every problem of the configuration and of this call.
   * @throws AbortError if the signal is aborted before the collection ends
   */
  async collect(options: CollectOptions): Promise<CollectedEvent> {
    const { sessionId, clientId, consent, probes, signal } = this.#readOptions(options);
    if (signal?.aborted) throw new AbortError();
    const request = {
      sessionId,
      clientId: clientId ?? this.#clientId,
      settings: { ...this.#settings, probes },
      consent: () => this.#consent,
      collectionConsent: consent ?? (() => true),
    };
    const collection = new Collection(request, this.#host());
    const stop = (): void => collection.stop();
    this.#running.add(collection);
    signal?.addEventListener("abort", stop);
    try {
      return await collection.run();
    } finally {
      signal?.removeEventListener("abort", stop);
      this.#running.delete(collection);
    }
  }

  /**
   * Begins the window in which `transaction_safety` observes screenshots, recordings and obscured touches. The window
   * does not begin without consent or while the probe is disabled. It ends when the consent is withdrawn or the probe
   * is disabled. On iOS the window has no effect.
   */
  observeTransaction(): ObservationWindow {
    const host = this.#host();
    const { native } = host;
    const window: ObservationWindow = {
      stop: () => {
        if (this.#windows.delete(window) && native) endObservation(native, window);
      },
    };
    this.#windows.add(window);
    void this.#mayObserve(host).then((may) => {
      if (!may || !native) return window.stop();
      if (this.#windows.has(window)) beginObservation(native, window);
    });
    return window;
  }

  #readOptions(options: unknown): Omit<CollectOptions, "probes"> & Pick<ResolvedConfiguration, "probes"> {
    const problems = [...this.#problems];
    const { probes, ...members } = readMembers(options ?? {}, "", OPTIONS, problems);
    const { sessionId, consent, clientId, signal } = members;
    checkText(sessionId, MAX_SESSION_ID_LENGTH, "sessionId", problems);
    checkConsent(consent, problems);
    const settings = readProbes(probes, (probe) => this.#settings.probes.get(probe) as ProbeSettings, problems);
    checkClientId(clientId, problems);
    if (signal !== undefined && !isStopSignal(signal)) {
      problems.push({ path: "signal", message: "must be an AbortSignal" });
    }
    throwMisuse(problems);
    return { ...(members as unknown as CollectOptions), probes: settings };
  }

  async #mayObserve(host: Host): Promise<boolean> {
    const enabled = this.#settings.probes.get(OBSERVING_PROBE)?.enabled && platformOf(host, OBSERVING_PROBE);
    return enabled ? this.#consentsToObserve(this.#consent) : false;
  }

  #consentsToObserve(consent: Consent | ConsentFunction): Promise<boolean> {
    return consents(consent, OBSERVING_PROBE, (begin) => new Waiting(this.#host()).within(CONSENT_MS, begin));
  }
}

const OPTIONS: readonly (keyof CollectOptions)[] = ["sessionId", "consent", "probes", "clientId", "signal"];

function throwMisuse(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new MisuseError(problems);
}

function isStopSignal(value: unknown): value is StopSignal {
  const { addEventListener, removeEventListener } = (value ?? {}) as Partial<StopSignal>;
  return typeof addEventListener === "function" && typeof removeEventListener === "function";
}

/** `undefined` is no problem: it means that no client id is set. */
function checkClientId(clientId: unknown, problems: Problem[]): void {
  if (clientId !== undefined) checkText(clientId, MAX_CLIENT_ID_LENGTH, "clientId", problems);
}

/** Adds a problem for a text with which the endpoint would reject the event. Lengths are in code points. */
function checkText(value: unknown, maxLength: number, path: string, problems: Problem[]): void {
  const fits =
    typeof value === "string" &&
    value !== "" &&
    [...value].length <= maxLength &&
    !value.includes("\0") &&
    !LONE_SURROGATE.test(value);
  if (fits) return;
  problems.push({ path, message: `must be 1 to ${maxLength} characters of well-formed text without U+0000` });
}
