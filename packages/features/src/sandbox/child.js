/**
 * The main program of the process that computes features. It gets no environment, file or network, and speaks JSON, one
 * text a line: first the bundles, then batches. `REALM` is the text of `realm.js`, and `WATCH` the value of `watch.js`.
 */
{
  const vm = process.getBuiltinModule("node:vm");
  // Nothing evaluates the queue of the context after the bundles are loaded, so that no code of a definition runs after
  // it has returned.
  const context = vm.createContext(vm.constants.DONT_CONTEXTIFY, {
    codeGeneration: { strings: false, wasm: false },
    microtaskMode: "afterEvaluate",
  });
  process.on("unhandledRejection", () => {});
  const watch = WATCH(Number(process.argv.at(-1)));
  const harness = vm.runInContext(REALM, context);
  const answer = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
  const ATTEMPTS = 3;
  /** The parent ends a process that has neither answered nor reported progress for a time. */
  const REPORT_EVERY_MS = 100;
  /** Milliseconds of processor time in which the bundles load, or one event is computed. */
  const STEP_MS = 3_000;

  let features = 0;
  let budgetMs = 1;

  /** A run that is too slow is repeated: another process or a garbage collection may have interrupted it. */
  function isOverBudget(feature, event) {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const start = performance.now();
      harness.compute(feature, event);
      if (performance.now() - start <= budgetMs) return false;
    }
    return true;
  }

  /**
   * Reads the clock once for all features. If all of them together fit into the budget of one feature, each fits into
   * its own.
   */
  function slowFeatures(event, wanted) {
    const start = performance.now();
    for (const feature of wanted) harness.compute(feature, event);
    if (performance.now() - start <= budgetMs) return [];
    return wanted.filter((feature) => isOverBudget(feature, event));
  }

  function load({ bundles, budget }) {
    budgetMs = budget;
    const before = process.cpuUsage();
    for (const [at, { text, layout }] of bundles.entries()) {
      try {
        // The text must be the whole body of a function: it can't end the function and go on outside.
        const compute = vm.compileFunction(`${text}\nreturn feature;`, [], { parsingContext: context })();
        if (typeof compute !== "function") throw new TypeError("the program of a bundle gives no function");
        harness.add(layout, compute);
      } catch {
        return { broken: at };
      }
    }
    features = bundles.length;
    const { user, system } = process.cpuUsage(before);
    return { loaded: (user + system) / 1000 };
  }

  /**
   * @param skip are indexes of features that are paused or not wanted.
   * @returns the cells, and for each feature that was too slow the index of the event. Later events skip that feature.
   */
  function run({ batch, size, skip }) {
    const slow = new Map();
    let wanted = Array.from({ length: features }, (_, feature) => feature).filter((feature) => !skip.includes(feature));
    harness.begin(batch);
    let reported = performance.now();
    for (let event = 0; event < size; event++) {
      if (performance.now() > reported + REPORT_EVERY_MS) {
        process.stdout.write(".\n");
        reported = performance.now();
      }
      watch.begin(STEP_MS);
      const found = slowFeatures(event, wanted);
      for (const feature of found) slow.set(feature, event);
      if (found.length > 0) wanted = wanted.filter((feature) => !slow.has(feature));
    }
    return { slow: [...slow], cells: harness.end() };
  }

  // The parent waits for each answer, so a chunk ends at most one message.
  let chunks = [];
  process.stdin.setEncoding("utf8").on("data", (chunk) => {
    chunks.push(chunk);
    if (!chunk.endsWith("\n")) return;
    const message = JSON.parse(chunks.join(""));
    chunks = [];
    watch.begin(STEP_MS);
    answer(message.bundles ? load(message) : run(message));
    watch.rest();
  });
}
