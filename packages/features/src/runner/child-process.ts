import { readFileSync } from "node:fs";
import { type Computed, readComputed } from "./answers.ts";
import type { SandboxBundle } from "./input-layout.ts";
import { IsolatedProcess } from "./isolated-process.ts";

const text = (name: string): string => readFileSync(new URL(`../sandbox/${name}`, import.meta.url), "utf8");
export const REALM = text("realm.js");
const PROGRAM = `"use strict";\nconst REALM = ${JSON.stringify(REALM)}, WATCH = ${text("watch.js")}\n${text("child.js")}`;

// A definition that reaches an object of the main realm can't change what the main program uses.
export const V8_ARGUMENTS = ["--frozen-intrinsics", "--eval", PROGRAM];

/**
 * Milliseconds of processor time that the process needed to load the bundles, or the index of a bundle that can't be
 * loaded: its text is no program, or the program results in no function.
 */
export type Loaded = { readonly loadMs: number } | { readonly broken: number };

/** A process that computes features on V8. It has no permission to read files. */
export class Child {
  readonly #process = new IsolatedProcess(V8_ARGUMENTS);

  async load(bundles: readonly SandboxBundle[], budget: number, deadlineMs: number): Promise<Loaded | undefined> {
    const answer = await this.#process.ask({ bundles, budget }, deadlineMs);
    const { loaded, broken } = (answer ?? {}) as Partial<Record<string, unknown>>;
    if (typeof loaded === "number") return { loadMs: loaded };
    return typeof broken === "number" && bundles[broken] ? { broken } : undefined;
  }

  /**
   * @param size the number of events. @param features the number of features, with those of `skip`.
   * @param skip the indexes of features that are not computed
   * @returns `undefined` if the child ended, did not answer in time, or its answer is invalid
   */
  async compute(
    batch: string,
    { size, features, skip }: { readonly size: number; readonly features: number; readonly skip: readonly number[] },
    deadlineMs: number,
  ): Promise<Computed | undefined> {
    return readComputed(await this.#process.ask({ batch, size, skip }, deadlineMs), size, features);
  }

  get hasEnded(): boolean {
    return this.#process.hasEnded;
  }

  get wasKilledByOther(): boolean {
    return this.#process.wasKilledByOther;
  }

  kill(): Promise<void> {
    return this.#process.kill();
  }
}
