import { Loop } from "../base/loop.ts";
import { type AssignedPurpose, BUILT_IN_PURPOSE, type OnError, type Purposes } from "../base/ports.ts";
import { asUnavailable } from "../store/postgres/errors.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { coverageOf } from "./coverage.ts";
import { type CurrentPolicy, readCurrentPolicy, readPolicyVersion } from "./policy-table.ts";

/**
 * Time between two checks for a new policy. The database rejects a commit under a replaced policy, and the server then
 * checks at once.
 */
const LOOK_EVERY_MS = 1_000;

/** The active policy in memory. It is read again after another version was applied. */
export class ActivePurposes implements Purposes {
  readonly #executor: Executor;
  readonly #loop: Loop;
  #version = -1;
  #byType: ReadonlyMap<string, AssignedPurpose> = new Map();
  #unmapped: AssignedPurpose | undefined;
  #activeCodes: readonly number[] = [];
  #looking: Promise<void> | undefined;

  private constructor(executor: Executor, onError: OnError) {
    this.#executor = executor;
    this.#loop = new Loop(() => this.refresh(), {
      everyMs: LOOK_EVERY_MS,
      onError: (error) => onError(error, "refresh policy"),
    });
  }

  /** @throws Unavailable */
  static async open(executor: Executor, onError: OnError): Promise<ActivePurposes> {
    const purposes = new ActivePurposes(executor, onError);
    try {
      await purposes.refresh();
      return purposes;
    } catch (error) {
      await purposes.close();
      throw asUnavailable(error);
    }
  }

  find(actionType: string): AssignedPurpose | undefined {
    // guard(right): an action type that the policy maps gets the purpose of the mapping
    return this.#byType.get(actionType) ?? this.#unmapped;
  }

  /** Codes of the purposes that take events. */
  get activeCodes(): readonly number[] {
    return this.#activeCodes;
  }

  refresh(): Promise<void> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  close(): Promise<void> {
    return this.#loop.close();
  }

  async #look(): Promise<void> {
    if ((await readPolicyVersion(this.#executor)) === this.#version) return;
    this.#take(await readCurrentPolicy(this.#executor, BUILT_IN_PURPOSE));
  }

  #take({ version, purposes, actions, unmapped }: CurrentPolicy): void {
    const assigned = new Map<number, AssignedPurpose>();
    for (const { code, probes, highest_sensitivity, beyond } of purposes) {
      const coverage = coverageOf(probes, highest_sensitivity);
      assigned.set(code, { code, policyVersion: version, mapped: true, ...(coverage && { coverage, beyond }) });
    }
    this.#byType = new Map([...actions].map(([type, code]) => [type, assigned.get(code) as AssignedPurpose]));
    const rest = unmapped === undefined ? undefined : assigned.get(unmapped);
    this.#unmapped = rest && { ...rest, mapped: version === 0 };
    this.#activeCodes = activeCodesOf({ actions, unmapped });
    this.#version = version;
  }
}

/** Codes of the purposes that take events. */
export const activeCodesOf = ({
  actions,
  unmapped,
}: Pick<CurrentPolicy, "actions" | "unmapped">): readonly number[] => [
  ...new Set([...actions.values(), ...(unmapped === undefined ? [] : [unmapped])]),
];
