import { setTimeout as sleep } from "node:timers/promises";
import { hasCode } from "../errors/operator-error.ts";
import { describeUnreached, unknownAuthorityOf } from "../messages/unreached.ts";
import { Unavailable } from "../ports.ts";
import { withDeadline } from "./deadline.ts";

export const DEPENDENCIES = {
  database: { title: "database", required: true },
  owner_database: { title: "database with the owner's login", required: false },
  admin_database: { title: "database of the admin API", required: false },
  key_store: { title: "key store", required: true },
  erasure_journal: { title: "erasure journal", required: false },
  audit_checkpoints: { title: "directory of audit checkpoints", required: false },
  audit_log: { title: "audit log", required: false },
  jwks: { title: "JWKS", required: false },
  introspection: { title: "introspection", required: false },
  identity_provider: { title: "identity provider", required: false },
} as const;

export type DependencyName = keyof typeof DEPENDENCIES;

/** A dependency that takes longer for an empty call counts as down. */
const PROBE_MS = 2_000;
/** Limit of the wait for a check. */
const CHECK_WITHIN_MS = PROBE_MS + 250;

/** The reason why a dependency can't be used. For each kind of reason, one observer reports and withdraws it. */
type Trouble = "away" | "stalled" | "behind" | "lacking";

export interface Health {
  readonly name: DependencyName;
  readonly title: string;
  /** Whether the server can store no event without the dependency. */
  readonly required: boolean;
  /** Descriptions of problems, one line each; empty when the dependency is up. */
  readonly problems: readonly string[];
  /** When the dependency became unavailable: milliseconds since the Unix epoch. */
  readonly since?: number;
}

export interface CallOptions {
  /**
   * Whether an error means that the dependency is down. Any other error is an answer of the dependency. By default,
   * every error means that the dependency is down.
   */
  readonly isAway?: (error: unknown) => boolean;
  readonly isProgressing?: () => Promise<boolean>;
  /** Whether a monitor makes the call. Its calls are made even if other calls are rejected. */
  readonly isProbe?: boolean;
}

/** One system that the server calls. Every call has a deadline, and its success or failure is recorded. */
export class Dependency {
  readonly name: DependencyName;
  readonly timeoutMs: number;
  readonly #registry: Dependencies;
  readonly #troubles = new Map<Trouble, string>();
  /**
   * Asks the monitor to check the dependency now. The monitor confirms that the dependency is back; without a monitor,
   * the next successful call confirms it.
   */
  #check: (() => Promise<void>) | undefined;
  #since: number | undefined;

  constructor(name: DependencyName, timeoutMs: number, registry: Dependencies) {
    this.name = name;
    this.timeoutMs = timeoutMs;
    this.#registry = registry;
  }

  get title(): string {
    return DEPENDENCIES[this.name].title;
  }

  get isUp(): boolean {
    return this.#troubles.size === 0;
  }

  get health(): Health {
    const { title, required } = DEPENDENCIES[this.name];
    const problems = [...this.#troubles.values()];
    return { name: this.name, title, required, problems, ...(this.#since !== undefined && { since: this.#since }) };
  }

  /**
   * @param work gets a signal whose abort must cancel the work.
   * @throws dependency-silent past the deadline, Unavailable when calls are rejected or the server stops, or what
   * `work` throws.
   */
  async call<T>(work: (signal: AbortSignal) => Promise<T>, options: CallOptions = {}): Promise<T> {
    const { isAway = () => true, isProgressing, isProbe = false } = options;
    if (!isProbe && this.#troubles.has("stalled")) throw new Unavailable(this.#sentence("stalled"));
    const ms = isProbe ? Math.min(this.timeoutMs, PROBE_MS) : this.timeoutMs;
    const deadline = {
      ms,
      expired: () => new Unavailable(`the ${this.title} gave no answer within ${ms} ms`, { code: "dependency-silent" }),
      stop: this.#registry.stopping,
      ...(isProgressing && { isProgressing }),
    };
    try {
      const result = await withDeadline(deadline, work);
      if (!this.#check) this.resolve("away");
      return result;
    } catch (error) {
      if (hasCode(error, "dependency-silent") || isAway(error)) this.reportUnreachable(error);
      throw error;
    }
  }

  /** Declares that only a monitor reports the dependency as back. @param check lets the monitor check it now. */
  monitored(check: () => Promise<void>): void {
    this.#check = check;
  }

  /** Checks the dependency if it counts as up and has a monitor. Never rejects. */
  async check(): Promise<void> {
    if (this.isUp) await this.#check?.();
  }

  has(trouble: Trouble): boolean {
    return this.#troubles.has(trouble);
  }

  /**
   * Reports that a call failed. An error that says what is wrong with the dependency replaces an earlier reason. After
   * any other error the first reason remains until the dependency answers again, because it says more than later
   * reasons.
   */
  reportUnreachable(error?: unknown): void {
    if (this.#registry.stopping.aborted) return;
    if (hasCode(error, "dependency-unusable")) return this.report("away", error.detail.problem);
    if (this.has("away")) return;
    const isSilent = hasCode(error, "dependency-silent");
    this.report("away", isSilent ? "does not answer" : describeUnreached(unknownAuthorityOf(error)));
  }

  report(trouble: Trouble, problem: string): void {
    if (this.#troubles.get(trouble) === problem) return;
    this.#troubles.set(trouble, problem);
    this.#since ??= Date.now();
    this.#registry.changed(this.health);
  }

  resolve(trouble: Trouble): void {
    if (!this.#troubles.delete(trouble)) return;
    if (this.isUp) this.#since = undefined;
    this.#registry.changed(this.health);
  }

  #sentence(trouble: Trouble): string {
    return `the ${this.title}: ${this.#troubles.get(trouble)}`;
  }
}

/** All dependencies of the server with their health. */
export class Dependencies {
  readonly #timeoutMs: number;
  readonly #all = new Map<DependencyName, Dependency>();
  readonly #listeners = new Set<(health: Health) => void>();
  readonly #stopping = new AbortController();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  get(name: DependencyName): Dependency {
    const known = this.#all.get(name) ?? new Dependency(name, this.#timeoutMs, this);
    this.#all.set(name, known);
    return known;
  }

  get health(): readonly Health[] {
    return [...this.#all.values()].map((dependency) => dependency.health);
  }

  /** Whether an event can be stored, as far as is known. */
  get canStore(): boolean {
    // This runs for each event, so it builds no descriptions of dependencies.
    for (const { name, isUp } of this.#all.values()) if (!isUp && DEPENDENCIES[name].required) return false;
    return true;
  }

  /**
   * Checks the required dependencies that count as up, so that `canStore` is based on answers from during this call.
   * @returns the dependencies whose check has not ended within the time for which this call waits; the deadline of a
   * check may be longer.
   */
  async check(): Promise<readonly Dependency[]> {
    const required = [...this.#all.values()].filter(({ name }) => DEPENDENCIES[name].required);
    const unanswered = new Set(required);
    const checks = required.map(async (dependency) => {
      await dependency.check();
      unanswered.delete(dependency);
    });
    const ended = new AbortController();
    const limit = sleep(CHECK_WITHIN_MS, undefined, { ref: false, signal: ended.signal }).catch(() => {});
    await Promise.race([Promise.all(checks), limit]);
    ended.abort();
    return [...unanswered];
  }

  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Ends every call that still waits, and rejects later ones. */
  abandon(): void {
    this.#stopping.abort(new Unavailable("the server stops"));
  }

  onChange(listener: (health: Health) => void): void {
    this.#listeners.add(listener);
  }

  changed(health: Health): void {
    for (const listener of this.#listeners) listener(health);
  }
}
