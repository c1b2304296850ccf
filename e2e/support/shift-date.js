/**
 * The servers and commands of tests preload this file, so that their `Date` shows the clock of the test. Timers and
 * `performance` keep the machine's time. The file is plain JavaScript, because Node loads it faster than TypeScript.
 */
import { openSync, readSync } from "node:fs";

const clockFile = openSync(process.env["TEST_CLOCK_FILE"] ?? "", "r");
const addedMs = Buffer.alloc(8);
const SystemDate = Date;

function shiftedNow() {
  readSync(clockFile, addedMs, 0, addedMs.length, 0);
  return SystemDate.now() + addedMs.readDoubleLE();
}

globalThis.Date = new Proxy(SystemDate, {
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length === 0 ? [shiftedNow()] : given, newTarget),
  get: (target, name, receiver) => (name === "now" ? shiftedNow : Reflect.get(target, name, receiver)),
});
