/**
 * Preloaded into the servers and commands of tests: their `Date` is the clock of the test. Timers and `performance` stay
 * those of the machine. Plain JavaScript, which loads sooner.
 */
import { openSync, readSync } from "node:fs";

const file = openSync(process.env["TEST_CLOCK_FILE"] ?? "", "r");
const added = Buffer.alloc(8);
const SystemDate = Date;

function now() {
  readSync(file, added, 0, added.length, 0);
  return SystemDate.now() + added.readDoubleLE();
}

globalThis.Date = new Proxy(SystemDate, {
  construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
  get: (target, name, receiver) => (name === "now" ? now : Reflect.get(target, name, receiver)),
});
