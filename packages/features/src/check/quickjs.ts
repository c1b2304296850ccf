import variant from "@jitl/quickjs-wasmfile-release-sync";
import {
  newQuickJSWASMModuleFromVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSSyncVariant,
  Scope,
} from "quickjs-emscripten-core";
import type { Bundle } from "../manifest.ts";
import type { ReadInput } from "../readings/readings.ts";
import type { Result } from "../result.ts";
import { REALM } from "../runner/child-process.ts";
import { type Cell, encodeBatch, InputLayout } from "../runner/input-layout.ts";
import { NotLoadable } from "../runner/runner.ts";

const MEMORY_BYTES = 256 * 1024 * 1024;

/** The index of a feature's bundle, and a function that reads the feature's inputs. */
export interface EngineCase {
  readonly feature: number;
  readonly read: ReadInput;
}

/** After an interruption, the results of the cases before it are read within this time. */
const READ_MS = 1_000;

/**
 * Computes cases on QuickJS, an engine that shares no code with V8. The engine occupies the thread of the caller, at
 * most until the deadline.
 *
 * @returns the results; `failed` with `paused` for the case that the deadline interrupted and for all later cases.
 * @throws NotLoadable for a program that QuickJS does not load, or not before the deadline. The message names it.
 */
export async function computeInQuickJs(
  bundles: readonly Bundle[],
  cases: readonly EngineCase[],
  deadlineMs: number,
): Promise<readonly Result[]> {
  const quickJs = await newQuickJSWASMModuleFromVariant(variant as unknown as QuickJSSyncVariant);
  const inputLayout = new InputLayout(bundles);
  const readings = cases.map(({ read }) => inputLayout.read(read));
  return Scope.withScope((scope) => {
    const runtime = scope.manage(quickJs.newRuntime());
    runtime.setMemoryLimit(MEMORY_BYTES);
    let end = Date.now() + deadlineMs;
    runtime.setInterruptHandler(() => Date.now() > end);
    const context = scope.manage(runtime.newContext());
    const harness = scope.manage(context.unwrapResult(context.evalCode(REALM)));
    const call = (name: string, ...values: QuickJSHandle[]): QuickJSHandle =>
      scope.manage(
        context.unwrapResult(context.callFunction(scope.manage(context.getProp(harness, name)), harness, ...values)),
      );
    const text = (value: string): QuickJSHandle => scope.manage(context.newString(value));
    for (const [at, { layout, text: program }] of inputLayout.bundles.entries()) {
      const { id, version } = bundles[at] as Bundle;
      call("add", text(layout), scope.manage(loadProgram(context, program, `${id}@${version}`)));
    }
    call("begin", text(encodeBatch(readings)));
    try {
      for (const [event, { feature }] of cases.entries()) {
        call("compute", scope.manage(context.newNumber(feature)), scope.manage(context.newNumber(event)));
      }
    } catch (error) {
      if (Date.now() <= end) throw error;
      end = Date.now() + READ_MS;
    }
    const cells = JSON.parse(context.getString(call("end"))) as Cell[][];
    return cases.flatMap(({ feature }, event) =>
      inputLayout.results(readings[event] ?? [], cells[event] ?? [], [feature]),
    );
  });
}

function loadProgram(context: QuickJSContext, text: string, name: string): QuickJSHandle {
  const loaded = context.evalCode(`(() => {${text}\nreturn feature;})()`);
  if (loaded.error) {
    loaded.error.dispose();
    throw new NotLoadable(`QuickJS can't load the program of ${name}, or not in time`);
  }
  return loaded.value;
}
