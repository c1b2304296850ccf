import { Loop } from "../loop.ts";
import type { Dependency } from "./dependencies.ts";

/** The pauses of a monitor after an answer, and while the dependency is down. */
export interface Pace {
  readonly everyMs: number;
  readonly retryMs: number;
}

const PACE: Pace = { everyMs: 1_000, retryMs: 200 };

export interface Probe {
  /** @throws if the dependency can't be used. */
  ping(): Promise<void>;
  /** Registers the monitor's listener for a lost connection, so that the monitor notices it at once. */
  onConnectionLost?(listener: () => void): void;
  close(): Promise<void>;
}

/**
 * Asks a dependency regularly, and more often while it is down. Only the monitor reports that the dependency is back.
 */
export class Monitor {
  readonly #dependency: Dependency;
  readonly #probe: Probe;
  readonly #pace: Pace;
  readonly #loop: Loop;
  /** Resolves at the end of the check that runs, or else of the next one. */
  #checked = Promise.withResolvers<undefined>();
  #isChecking = false;

  constructor(dependency: Dependency, probe: Probe, pace = PACE) {
    this.#dependency = dependency;
    this.#probe = probe;
    this.#pace = pace;
    dependency.monitored(() => this.#check());
    this.#loop = new Loop((signal) => this.#ping(signal), {
      everyMs: pace.everyMs,
      atOnce: true,
      onError: (error) => dependency.reportUnreachable(error),
    });
    probe.onConnectionLost?.(() => this.#loop.wake());
  }

  async close(): Promise<void> {
    await this.#loop.close();
    this.#checked.resolve(undefined);
    await this.#probe.close();
  }

  /** Starts a check, unless one is running, and waits for the end of the check. */
  async #check(): Promise<void> {
    if (!this.#isChecking) this.#loop.wake();
    await this.#checked.promise;
  }

  /** @returns the next pause. */
  async #ping(signal: AbortSignal): Promise<number> {
    this.#isChecking = true;
    const answered = await this.#probe.ping().then(
      () => true,
      (error: unknown) => {
        if (!signal.aborted) this.#dependency.reportUnreachable(error);
        return false;
      },
    );
    if (answered) this.#dependency.resolve("away");
    this.#isChecking = false;
    this.#checked.resolve(undefined);
    this.#checked = Promise.withResolvers();
    return answered ? this.#pace.everyMs : this.#pace.retryMs;
  }
}
