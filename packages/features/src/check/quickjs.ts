import { fileURLToPath } from "node:url";
import type { Bundle } from "../manifest.ts";
import type { ReadInput } from "../readings/readings.ts";
import type { Result } from "../result.ts";
import { readCells } from "../runner/answers.ts";
import { REALM } from "../runner/child-process.ts";
import { type Cell, encodeBatch, InputLayout } from "../runner/input-layout.ts";
import { IsolatedProcess } from "../runner/isolated-process.ts";
import { NotLoadable, NotStarted } from "../runner/runner.ts";

/** The index of one feature, and a function that reads its inputs. */
export interface EngineCase {
  readonly feature: number;
  readonly read: ReadInput;
}

/** The program imports the engine from `node_modules`. The engine gives definitions no access to files. */
const ARGUMENTS = ["--allow-fs-read=*", fileURLToPath(new URL("../sandbox/quickjs.js", import.meta.url))];

/** The time limit of a start, and what an answer may need in addition to the time limit of the engine. */
const START_MS = 10_000;
const ANSWER_MS = 2_000;

/**
 * Computes cases on QuickJS, an engine that shares no code with V8, in a process of its own.
 *
 * @param deadlineMs the time limit for loading a program, and for the cases.
 * @returns the results; `failed` with `time-limit` for the case that the deadline interrupted and for all later cases, and
 * for all cases if the process ended or had to be killed.
 * @throws NotLoadable for a program that QuickJS does not load, or not before the deadline. The message names it.
 * @throws NotStarted
 */
export async function computeInQuickJs(
  bundles: readonly Bundle[],
  cases: readonly EngineCase[],
  deadlineMs: number,
): Promise<readonly Result[]> {
  const inputLayout = new InputLayout(bundles);
  const readings = cases.map(({ read }) => inputLayout.read(read));
  const engine = new IsolatedProcess(ARGUMENTS);
  try {
    const ready = await engine.ask({ realm: REALM }, START_MS);
    if (!ready) throw new NotStarted("the process of QuickJS did not start");
    for (const [at, bundle] of inputLayout.bundles.entries()) {
      const loading = await engine.ask({ bundle, deadlineMs }, deadlineMs + ANSWER_MS);
      if ((loading as { readonly loaded?: unknown } | undefined)?.loaded === true) continue;
      const { id, version } = bundles[at] as Bundle;
      throw new NotLoadable(`QuickJS can't load the program of ${id}@${version}, or not in time`);
    }
    const answer = await engine.ask(
      {
        batch: encodeBatch(readings),
        size: cases.length,
        cases: cases.map(({ feature }, event) => [feature, event]),
        deadlineMs,
      },
      deadlineMs + ANSWER_MS,
    );
    const { cells: text } = (answer ?? {}) as { readonly cells?: unknown };
    const cells = readCells(text, { events: cases.length, features: bundles.length }) ?? [];
    return cases.flatMap(({ feature }, event) =>
      inputLayout.results(readings[event] ?? [], cells[event] ?? bundles.map((): Cell => "time-limit"), [feature]),
    );
  } finally {
    await engine.kill();
  }
}
