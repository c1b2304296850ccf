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
  const write = (value, part = "") => process.stdout.write(`${part}${JSON.stringify(value)}\n`);
  const ATTEMPTS = 3;
  /** What was computed is reported at this interval, so that it is not computed again after this process was ended. */
  const REPORT_EVERY_MS = 50;
  /** Milliseconds of processor time in which the bundles load, or a batch is read. */
  const STEP_MS = 3_000;

  let limits = { budgetMs: 1, endMs: 100 };

  function processorMs() {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  }

  /**
   * A run that is too slow is repeated: a garbage collection or the compiler may have made it slow.
   * @returns the milliseconds of all runs if each was too slow, else 0.
   */
  function measureSlow(feature, event) {
    let spent = 0;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      watch.begin(limits.endMs);
      watch.at(feature, event);
      const start = processorMs();
      harness.compute(feature, event);
      const took = processorMs() - start;
      if (took <= limits.budgetMs) return 0;
      spent += took;
    }
    return spent;
  }

  /**
   * Reads the clock once for all features. If all of them together fit into the budget of one feature, each fits into
   * its own. Otherwise the account of the event pays for the time, and a feature that is too slow for what it takes.
   * @param onCell called before each feature. @returns the features that were too slow.
   */
  function computeEvent(event, share, featuresLeft, wanted, onCell) {
    watch.begin(limits.endMs + wanted.length * limits.budgetMs);
    const begun = processorMs();
    const start = performance.now();
    for (const feature of wanted) {
      watch.at(feature, event);
      onCell(feature);
      harness.compute(feature, event);
    }
    if (performance.now() - start <= limits.budgetMs) return [];
    const spent = () => processorMs() - begun;
    const slow = [];
    for (const feature of wanted) {
      onCell(feature);
      const isPaid = share.left > spent();
      const slowMs = isPaid ? measureSlow(feature, event) : 0;
      if (isPaid && slowMs === 0) continue;
      harness.stop(feature, event);
      featuresLeft[feature] -= slowMs;
      if (isPaid) slow.push(feature);
    }
    share.left -= spent();
    return slow;
  }

  /**
   * The features that the account of the event has time for, without features that ended a process for the event.
   * @param able the features that have time themselves.
   */
  function wantedOf({ left, low, slow }, ended, able) {
    if (left <= 0) return [];
    const skipped = left <= low ? [...slow, ...ended] : ended;
    return skipped.length === 0 ? able : able.filter((feature) => !skipped.includes(feature));
  }

  function load({ bundles, budgetMs, endMs }) {
    limits = { budgetMs, endMs };
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
    const now = process.cpuUsage();
    const sumOf = ({ user, system }) => (user + system) / 1_000;
    return { loaded: sumOf(now) - sumOf(before), started: sumOf(now) };
  }

  /**
   * Writes parts, each with the cells of the events that follow those of the part before: `slow` are pairs of a feature
   * and an event for which it was too slow, and `left` and `features` are the times that are left of each share and of each feature.
   * @param owners for each event the index of its share. @param ended pairs of a feature and an event that are not
   * computed. @param isCareful whether each feature is reported before it is computed.
   */
  function run({ batch, size, owners, shares, features, ended, isCareful }) {
    harness.begin(batch);
    let slow = [];
    // guard: slow events of many accounts spend only the time of the features that are slow
    const findAble = () => [...features.keys()].filter((feature) => features[feature] > 0);
    let able = findAble();
    const part = (end) => {
      watch.begin(STEP_MS);
      const cells = harness.take(end);
      const found = slow;
      slow = [];
      return { cells, slow: found, left: shares.map(({ left }) => left), features };
    };
    let reported = performance.now();
    for (let event = 0; event < size; event++) {
      if (performance.now() > reported + REPORT_EVERY_MS) {
        write(part(event), "+");
        reported = performance.now();
      }
      const onCell = isCareful ? (feature) => write({ at: [feature, event] }, "+") : () => {};
      const share = shares[owners[event]];
      const endedHere = ended.flatMap(([feature, at]) => (at === event ? [feature] : []));
      const wanted = wantedOf(share, endedHere, able);
      for (const feature of computeEvent(event, share, features, wanted, onCell)) {
        slow.push([feature, event]);
        share.slow.push(feature);
        able = findAble();
      }
    }
    return part(size);
  }

  // The parent waits for each answer, so a chunk ends at most one message.
  let chunks = [];
  process.stdin.setEncoding("utf8").on("data", (chunk) => {
    chunks.push(chunk);
    if (!chunk.endsWith("\n")) return;
    const message = JSON.parse(chunks.join(""));
    chunks = [];
    watch.begin(STEP_MS);
    write(message.bundles ? load(message) : run(message));
    watch.rest();
  });
}
