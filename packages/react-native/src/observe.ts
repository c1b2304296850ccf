import type { ProbeId } from "@device-risk-signals/contract/catalog/fields";
import type { Host } from "./host.ts";
import { observeInJavaScript } from "./javascript-fields.ts";
import type { NativeAnswer } from "./native/native-interface.ts";
import { readAnswer } from "./native/read-answer.ts";
import type { Selection } from "./selection.ts";

/** The work of one probe. */
export interface Task {
  /** The name of the native call, which `cancel` takes. */
  readonly call: string;
  readonly probe: ProbeId;
  readonly selection: Selection;
  readonly timeoutMs: number;
  readonly isAwaited: () => boolean;
}

export type Observed =
  | { readonly values: Readonly<Record<string, unknown>> }
  | { readonly unavailable: "unsupported" | "permission" }
  | { readonly error: "native-missing" | "native-failed" };

/** Runs a probe. The promise never rejects: each result of native code or of a judgement becomes an outcome. */
export async function observe(task: Task, host: Host): Promise<Observed> {
  const { selection } = task;
  const asksNative = selection.native.length > 0 || selection.judged.size > 0;
  if (asksNative && !host.native) return { error: "native-missing" };
  try {
    const answer = asksNative ? await ask(task, host) : {};
    if (answer.unavailable) return { unavailable: answer.unavailable };
    const stopped = (): boolean => !task.isAwaited();
    const javascript = await observeInJavaScript(task.probe, selection.javascript, host, stopped);
    return { values: { ...answer.fields, ...judge(selection, answer), ...javascript } };
  } catch {
    return { error: "native-failed" };
  }
}

async function ask({ call, probe, selection, timeoutMs }: Task, host: Host): Promise<NativeAnswer> {
  const { native: fields, sources } = selection;
  return readAnswer(await host.native?.collect(call, probe, { fields, sources, timeoutMs }));
}

/** Only evidence decides a judged field. If native code answers a field of that name, the answer is ignored. */
function judge({ judged }: Selection, { evidence = {} }: NativeAnswer): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, judgement] of judged) values[name] = judgement.judge(evidence);
  return values;
}
