/**
 * The main program of the process that computes features on QuickJS. It gets first the realm, then each bundle, then cases. A loop in a function of the engine itself does not end at the deadline: the parent then
 * kills this process.
 */
import variant from "@jitl/quickjs-wasmfile-release-sync";
import { newQuickJSWASMModuleFromVariant } from "quickjs-emscripten-core";
import { answerMessages } from "./answer-messages.js";

const MEMORY_BYTES = 256 * 1024 * 1024;
/** The engine reports deeper recursion. A stack of a process has a megabyte. */
const STACK_BYTES = 256 * 1024;
/** After an interruption, the results of the cases before it are read within this time. */
const READ_MS = 1_000;

/** Milliseconds of processor time that an answer may need in addition to the time limit of the engine. */
const ANSWER_MS = 3_000;

const quickJs = await newQuickJSWASMModuleFromVariant(variant);
const runtime = quickJs.newRuntime();
runtime.setMemoryLimit(MEMORY_BYTES);
runtime.setMaxStackSize(STACK_BYTES);
let end = Number.POSITIVE_INFINITY;
runtime.setInterruptHandler(() => Date.now() > end);
const context = runtime.newContext();
let harness;

const call = (name, ...values) =>
  context.unwrapResult(context.callFunction(context.getProp(harness, name), harness, ...values));

function begin({ realm }) {
  harness = context.unwrapResult(context.evalCode(realm));
  return { ready: true };
}

function load({ bundle: { layout, text }, deadlineMs }) {
  end = Date.now() + deadlineMs;
  const program = context.evalCode(`(() => {${text}\nreturn feature;})()`);
  if (program.error) return { loaded: false };
  call("add", context.newString(layout), program.value).dispose();
  return { loaded: true };
}

/** @param cases for each case the indexes of its feature and of its readings in the batch. */
function run({ batch, size, cases, deadlineMs }) {
  end = Date.now() + deadlineMs;
  call("begin", context.newString(batch)).dispose();
  for (const [feature, event] of cases) {
    const computed = context.callFunction(
      context.getProp(harness, "compute"),
      harness,
      context.newNumber(feature),
      context.newNumber(event),
    );
    if (!computed.error) continue;
    // Only an interruption is an error here: the harness handles the others.
    end = Date.now() + READ_MS;
    break;
  }
  return { cells: context.getString(call("take", context.newNumber(size))) };
}

const answerTo = (message) => (message.realm ? begin(message) : message.bundle ? load(message) : run(message));

await answerMessages(answerTo, ({ deadlineMs = 0 }) => deadlineMs + ANSWER_MS);
