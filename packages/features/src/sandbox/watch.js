/**
 * A program whose value is a function. It starts a thread that ends this process when the parent has ended, or when one
 * step takes too much processor time; then it first writes which feature of which event was under way. A definition can
 * block the main thread, but not this one.
 */
(() => {
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  const [LIMIT, STEPS, SLEEP, FEATURE, EVENT] = [0, 1, 2, 3, 4];
  const NOTHING = -1;

  function watch() {
    const { workerData } = process.getBuiltinModule("node:worker_threads");
    const { writeSync } = process.getBuiltinModule("node:fs");
    const { state, parent, LIMIT, STEPS, SLEEP, FEATURE, EVENT } = workerData;
    const LOOK_EVERY_MS = 20;
    let [steps, begun] = [0, 0];
    for (;;) {
      // A process that waits for a message ends by itself when its input ends.
      Atomics.wait(state, LIMIT, 0);
      const { user, system } = process.cpuUsage();
      const now = (user + system) / 1_000;
      const current = Atomics.load(state, STEPS);
      if (current !== steps) [steps, begun] = [current, now];
      if (process.ppid !== parent) process.kill(process.pid, "SIGKILL");
      if (now - begun > Atomics.load(state, LIMIT)) {
        const [feature, event] = [Atomics.load(state, FEATURE), Atomics.load(state, EVENT)];
        try {
          if (feature >= 0) writeSync(1, `+{"at":[${feature},${event}]}\n`);
        } finally {
          process.kill(process.pid, "SIGKILL");
        }
      }
      Atomics.wait(state, SLEEP, 0, LOOK_EVERY_MS);
    }
  }

  /** @param parent the id of the parent of this process. */
  return (parent) => {
    const state = new Int32Array(new SharedArrayBuffer(5 * Int32Array.BYTES_PER_ELEMENT));
    const workerData = { state, parent, LIMIT, STEPS, SLEEP, FEATURE, EVENT };
    new Worker(`(${watch.toString()})()`, { eval: true, workerData }).unref();
    // A definition that escapes its realm starts no thread. Only Node 26 can drop a permission.
    process.permission.drop?.("worker");
    const at = (feature, event) => {
      Atomics.store(state, FEATURE, feature);
      Atomics.store(state, EVENT, event);
    };
    const begin = (limitMs) => {
      at(NOTHING, NOTHING);
      Atomics.add(state, STEPS, 1);
      Atomics.store(state, LIMIT, limitMs);
      Atomics.notify(state, LIMIT);
    };
    return {
      /** Begins a step, which may take these milliseconds of processor time. */
      begin,
      /** Says what is computed from here on. */
      at,
      /** Waits for the next message. */
      rest: () => begin(0),
    };
  };
})();
