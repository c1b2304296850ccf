import { readFileSync } from "node:fs";
import { type BatchSize, type Part, type Place, readPart, readPlace } from "./answers.ts";
import type { SandboxBundle } from "./input-layout.ts";
import { IsolatedProcess } from "./isolated-process.ts";

const text = (name: string): string => readFileSync(new URL(`../sandbox/${name}`, import.meta.url), "utf8");
export const REALM = text("realm.js");
const PROGRAM = `"use strict";\nconst REALM = ${JSON.stringify(REALM)}, WATCH = ${text("watch.js")}\n${text("child.js")}`;

// A definition that reaches an object of the main realm can't change what the main program uses.
export const V8_ARGUMENTS = ["--frozen-intrinsics", "--eval", PROGRAM];

/**
 * Milliseconds of processor time that the process needed to load the bundles, and since its start; or the index of a
 * bundle that can't be loaded: its text is no program, or the program results in no function.
 */
export type Loaded = { readonly loadMs: number; readonly startMs: number } | { readonly broken: number };

export interface Limits {
  /** Milliseconds that one feature may take for one event. */
  readonly budgetMs: number;
  /** After this number of milliseconds of processor time, the feature ends its process. */
  readonly endMs: number;
}

/** What `sandbox/child.js` gets for a batch. */
export interface BatchRequest {
  /** The encoded events. */
  readonly batch: string;
  /** For each event the index of its share. */
  readonly owners: readonly number[];
  /**
   * The time of an account: what is left of it, and the features that were too slow for it. They are not computed if no
   * more is left than `low`.
   */
  readonly shares: readonly { readonly left: number; readonly low: number; readonly slow: readonly number[] }[];
  /** Milliseconds that are left of the time of each feature. */
  readonly features: readonly number[];
  /** What ended a process before, and is not computed. */
  readonly ended: readonly Place[];
  /** Whether the process reports each feature before it computes it. */
  readonly isCareful: boolean;
}

/** A process that computes features on V8. It has no permission to read files. */
export class Child {
  readonly #process = new IsolatedProcess(V8_ARGUMENTS);

  async load(bundles: readonly SandboxBundle[], limits: Limits, deadlineMs: number): Promise<Loaded | undefined> {
    const answer = await this.#process.ask({ bundles, ...limits }, deadlineMs);
    const { loaded, started, broken } = (answer ?? {}) as Partial<Record<string, unknown>>;
    if (typeof loaded === "number" && typeof started === "number") return { loadMs: loaded, startMs: started };
    return typeof broken === "number" && bundles[broken] ? { broken } : undefined;
  }

  /**
   * @param onPart called with each part of the answer.
   * @returns `done`, or what was computed when the child ended, if it could say so. `lost` if it could not, if it did
   * not answer in time, or if its answer is invalid. The caller then kills it.
   */
  async compute(
    request: BatchRequest,
    size: BatchSize,
    onPart: (part: Part) => void,
    deadlineMs: number,
  ): Promise<"done" | "lost" | Place> {
    let last: Place | undefined;
    let isValid = true;
    const read = (answer: unknown): void => {
      const { at } = (answer ?? {}) as { readonly at?: unknown };
      last = at === undefined ? undefined : readPlace(at, size);
      const part = at === undefined ? readPart(answer, size) : undefined;
      if (part && isValid) onPart(part);
      else isValid &&= last !== undefined;
    };
    const answer = await this.#process.ask({ ...request, size: size.events }, deadlineMs, read);
    if (answer === undefined) return (isValid && last) || "lost";
    read(answer);
    return isValid ? "done" : "lost";
  }

  get hasEnded(): boolean {
    return this.#process.hasEnded;
  }

  kill(): Promise<void> {
    return this.#process.kill();
  }
}
