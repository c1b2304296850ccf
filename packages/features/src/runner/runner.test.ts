import { execFileSync } from "node:child_process";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { bundleOf } from "../bundle.fixture.ts";
import type { Bundle, Output } from "../manifest.ts";
import { type ReadInput, readEvent } from "../readings/readings.ts";
import { NotStarted, type OpenedRunner, openRunner, type RunnerOptions, type TimeShare } from "./runner.ts";

const runners: OpenedRunner[] = [];
afterAll(() => Promise.all(runners.map((runner) => runner.close())));

async function open(bundles: readonly Bundle[], options: RunnerOptions = {}): Promise<OpenedRunner> {
  const runner = await openRunner(bundles, options);
  runners.push(runner);
  return runner;
}

const eventWith = (data: object): ReadInput =>
  readEvent({ platform: "android", probes: { os_integrity: { status: "success", data } } });
const EVENT = eventWith({ suBinaryFound: true });
const number: Output = { type: "number", unit: "none", bins: [] };
const VALUE = "({ su }) => su.state === 'observed' ? su.value : null";

describe("a runner", () => {
  it("returns a value or the state that the inputs share, and the state of each input", async () => {
    const runner = await open([bundleOf(VALUE)]);
    const { events } = await runner.run([EVENT, eventWith({}), readEvent({ platform: "ios", probes: {} })]);
    expect(events).toEqual([
      [{ state: "observed", value: true, inputs: ["observed"] }],
      [{ state: "omitted", inputs: ["omitted:field-absent"] }],
      [{ state: "omitted", inputs: ["omitted:probe-absent"] }],
    ]);
  });

  it("fails a feature whose value does not fit its output, and computes the other features", async () => {
    const cases: readonly (readonly [compute: string, failure: string, output?: Output])[] = [
      ["() => { throw new Error('x') }", "threw"],
      ["() => NaN", "not-a-value", number],
      ["() => -0", "not-a-value", number],
      ["() => 1 / 0", "not-a-value", number],
      ["() => undefined", "not-a-value"],
      ["async () => true", "not-a-value"],
      ["() => ({ toJSON: () => true })", "not-a-value"],
      ["() => 1n", "not-a-value", number],
      ["() => 'x'.repeat(1e7)", "too-large", { type: "category", values: ["x"] }],
      ["() => 'y'", "wrong-type", { type: "category", values: ["x"] }],
      ["() => 1", "wrong-type"],
      ["() => 1.5", "wrong-type", { type: "count", bins: [] }],
      ["() => -1", "wrong-type", { type: "count", bins: [] }],
      ["() => null", "no-value"],
    ];
    const bundles = cases.map(([compute, , output]) => bundleOf(compute, output && { output }));
    const runner = await open([...bundles, bundleOf(VALUE)], { budgetMs: 1000 });
    const [results = []] = (await runner.run([EVENT])).events;
    expect(results.slice(0, -1).map((result) => "failure" in result && result.failure)).toEqual(
      cases.map(([, failure]) => failure),
    );
    expect(results.at(-1)).toMatchObject({ value: true });
  });

  it("keeps definitions apart: none changes what another one computes, or reads what it matched", async () => {
    const inputs = [
      { name: "su", path: ["os_integrity", "suBinaryFound"], type: "boolean", sensitivity: "low" },
    ] as const;
    const victim = "() => [1, 2].values().map((n) => n).toArray().length";
    const vandal = `(() => {
      const helpers = Object.getPrototypeOf([].values().map((x) => x));
      try { helpers.next = () => ({ done: true, value: undefined }); } catch {}
      return () => true;
    })()`;
    const reader = "() => /secret/.test('a secret')";
    const stack = `() => {
      const { get } = Object.getOwnPropertyDescriptor(new Error(), "stack") ?? {};
      try { if (get) get.seen = 1; } catch {}
      return get?.seen === undefined;
    }`;
    const spy = `() => {
      const { input, $_, lastMatch } = /x/.constructor;
      return [input, $_, lastMatch].filter((text) => text !== undefined).length;
    }`;
    const output = { type: "count", bins: [] } as const;
    const runner = await open([
      bundleOf(vandal, { id: "vandal", inputs }),
      bundleOf(victim, { id: "victim", inputs, output }),
      bundleOf(reader, { id: "reader", inputs }),
      bundleOf(spy, { id: "spy", inputs, output }),
      bundleOf(stack, { id: "stack", inputs }),
    ]);
    const [results] = (await runner.run([EVENT])).events;
    expect(results).toMatchObject([{ value: true }, { value: 2 }, { value: true }, { value: 0 }, { value: true }]);
  });

  it("runs no code of a definition after it has returned", async () => {
    const spin = "() => { (async () => { await 0; for (;;); })(); return true; }";
    const reject = "() => { (async () => { throw 1; })(); return true; }";
    const counter = "(() => { let n = 0; return () => ++n; })()";
    const output = { type: "count", bins: [] } as const;
    const runner = await open([
      bundleOf(spin),
      bundleOf(reject, { id: "reject" }),
      bundleOf(counter, { id: "n", output }),
    ]);
    const counts: unknown[] = [];
    for (let batch = 0; batch < 3; batch++) {
      const { events } = await runner.run([EVENT]);
      counts.push(events[0]?.[2]);
    }
    expect(counts, "by the same process").toMatchObject([1, 2, 3].map((value) => ({ value })));
  });

  it("does not load a program that ends its function and continues outside", async () => {
    const open = "() => true); return feature; })(); const shared = 1; (() => { var feature = (() => true";
    await expect(openRunner([bundleOf(open)])).rejects.toThrow("the program of example@1 can't be loaded");
  });

  it("gives a process long events in pieces that it reads in time", async () => {
    const inputs = [
      { name: "paths", path: ["os_integrity", "suspiciousFilePaths"], type: "string[]", sensitivity: "low" },
    ] as const;
    const event = eventWith({ suspiciousFilePaths: Array.from({ length: 10 }, () => "ж".repeat(20_000)) });
    const runner = await open([bundleOf("({ paths }) => paths.value.length === 10", { inputs })]);
    const { events } = await runner.run(Array.from({ length: 100 }, () => event));
    expect(new Set(events.flat().map((result) => "value" in result && result.value))).toEqual(new Set([true]));
  });

  it("blames no definition for a process that another program kills once", async () => {
    const busy = "() => { let n = 0; while (n < 5e8) n++; return n > 0; }";
    const runner = await open([bundleOf(busy)], { budgetMs: 60_000 });
    const kill = (): void => {
      const found = execFileSync("pgrep", ["-P", String(process.pid), "-f", "frozen-intrinsics"], { encoding: "utf8" });
      for (const pid of found.split("\n").filter(Boolean)) process.kill(Number(pid), "SIGKILL");
    };
    const run = runner.run([EVENT]);
    kill();
    expect(await run).toMatchObject({ events: [[{ value: true }]] });
    kill();
    expect(await runner.run([EVENT]), "between two batches").toMatchObject({ events: [[{ value: true }]] });
  });

  it.skipIf(process.platform !== "linux")(
    "ends a process that needs far more memory than its heap, and computes the other features",
    async () => {
      const large = `() => {
      const text = "x".repeat(1 << 20), all = [];
      for (let n = 0; n < 500; n++) all.push(text);
      return JSON.stringify(all).length > 0;
    }`;
      const runner = await open([bundleOf(large), bundleOf(VALUE, { id: "value" })], { budgetMs: 10_000 });
      const [results] = (await runner.run([EVENT])).events;
      expect(results).toMatchObject([{ state: "failed", failure: "time-limit" }, { value: true }]);
    },
  );

  it("gives a batch the time of all its features", async () => {
    // An event takes longer than a feature may, and each feature takes far less.
    const busy = "() => { let n = 0; while (n < 1e6) n++; return n > 0; }";
    const bundles = Array.from({ length: 200 }, (_, n) => bundleOf(busy, { id: `busy_${n}` }));
    const runner = await open(bundles, { budgetMs: 20 });
    const { events } = await runner.run(Array.from({ length: 10 }, () => EVENT));
    expect(new Set(events.flat().map(({ state }) => state))).toEqual(new Set(["observed"]));
  });

  it("gives a definition no access to the process, and no function whose result may differ between calls", async () => {
    const names = [
      "process",
      "require",
      "Date",
      "Intl",
      "Promise",
      "eval",
      "Function",
      "RegExp",
      "console",
      "WebAssembly",
      "Reflect",
    ];
    const global = `() => [${names.map((name) => `typeof ${name}`).join()}].filter((type) => type !== "undefined").length`;
    const inexact = `() => [Math.random, Math.exp, Math.pow, "".normalize, "".localeCompare, "".toUpperCase, (1).toLocaleString,
      "".match, "".matchAll, "".search, Object.assign, Object.create, Object.defineProperty, Object.setPrototypeOf, {}.__proto__,
      Object.getOwnPropertySymbols, isNaN.call, isNaN.apply, isNaN.bind]
      .filter((method) => method !== undefined).length`;
    const expression = `() => { const C = /x/["construct" + "or"]; try { return C("(a+)+$").test("a") ? 1 : 0; } catch { return 0; } }`;
    const escape = `() => { try { return (() => {}).constructor("return process")() ? 1 : 0; } catch { return 0; } }`;
    const output: Output = { type: "count", bins: [] };
    const runner = await open([global, inexact, expression, escape].map((text) => bundleOf(text, { output })));
    const { events } = await runner.run([EVENT]);
    expect(events[0]).toMatchObject([{ value: 0 }, { value: 0 }, { value: 0 }, { value: 0 }]);
  });

  it("does not load a definition that imports, because an import that fails gives it an object of the main realm", async () => {
    for (const text of ["() => { import('x'); return true; }", "() => { import/* */('x'); return true; }"]) {
      await expect(openRunner([bundleOf(text)])).rejects.toThrow('contains the word "import"');
    }
  });

  it("does not let a definition change what another definition sees", async () => {
    const inputs = [
      { name: "paths", path: ["os_integrity", "suspiciousFilePaths"], type: "string[]", sensitivity: "low" },
    ] as const;
    const output: Output = { type: "count", bins: [] };
    const vandals = [
      "({ paths }) => { paths.value.push('x'); return 1; }",
      "({ paths }) => { paths.value = []; return 1; }",
      "() => { Array.prototype.filter = () => []; return 1; }",
      "() => { Math.abs = () => 7; return 1; }",
    ];
    const victim = "({ paths }) => paths.value.filter(() => true).length + Math.abs(-1)";
    const runner = await open([...vandals, victim].map((text) => bundleOf(text, { inputs, output })));
    const { events } = await runner.run([eventWith({ suspiciousFilePaths: ["/su", "/sbin/su"] })]);
    expect(events[0]?.slice(0, -1)).toMatchObject(vandals.map(() => ({ failure: "threw" })));
    expect(events[0]?.at(-1)).toMatchObject({ value: 3 });
  });

  const FAILED = { state: "failed", failure: "time-limit" };
  const unless = (work: string): string => `({ su }) => { if (!su.value) { ${work} } return su.value; }`;
  const NOT_FOUND = eventWith({ suBinaryFound: false });
  const MEMORY = "const all = []; for (;;) all.push([...'x'.repeat(1e6)]);";
  /** Ends the process at once, before anything can report it. */
  const FATAL = "new Array(1 << 27).fill(0).map((_, at) => [at]);";

  it.each([
    ["is slow", "for (let i = 0; i < 1e8; i++);"],
    ["does not end", "for (;;);"],
    ["uses all memory", MEMORY],
    ["ends its process", FATAL],
    ["does not end in a function of the engine", "new Array(2 ** 32 - 1).indexOf(1);"],
    ["backtracks", "/^(a+)+$/.test('a'.repeat(40) + 'b');"],
  ])("fails only the cell for which a definition %s", async (_, work) => {
    const runner = await open([bundleOf(unless(work), { id: "slow" }), bundleOf(VALUE)], { budgetMs: 5 });
    const { events } = await runner.run([EVENT, NOT_FOUND, EVENT]);
    expect(events).toMatchObject([
      [{ value: true }, { value: true }],
      [FAILED, { value: false }],
      [{ value: true }, { value: true }],
    ]);
    expect(await runner.run([EVENT]), "the next batch").toMatchObject({ events: [[{ value: true }, { value: true }]] });
  });

  it("fails the cells of several definitions that block or end their process for one event", async () => {
    const works = ["for (;;);", MEMORY, FATAL].map((work, at) => bundleOf(unless(work), { id: `slow_${at}` }));
    const runner = await open([...works, bundleOf(VALUE)], { budgetMs: 5 });
    const { events } = await runner.run([EVENT, NOT_FOUND]);
    expect(events[1]).toMatchObject([FAILED, FAILED, FAILED, { value: false }]);
  });

  const share = (): TimeShare => ({ patienceMs: 250, fullMs: 500, spentMs: 0, slow: new Set() });

  it("gives no more time to a feature that was slow for an account, once the patience with the account is over", async () => {
    const loop = bundleOf(unless("for (;;);"), { id: "loop" });
    const runner = await open([loop, bundleOf(VALUE)]);
    const [one, other] = [share(), share()];
    const { events } = await runner.run(
      [...Array.from({ length: 50 }, () => NOT_FOUND), EVENT, EVENT],
      [...Array.from({ length: 51 }, () => one), other],
    );
    expect(new Set(events.slice(0, 51).map(([result]) => JSON.stringify(result)))).toHaveLength(1);
    expect(events.slice(0, 51).map(([, result]) => result)).toMatchObject([
      ...Array.from({ length: 50 }, () => ({ value: false })),
      { value: true },
    ]);
    expect(events[51], "of another account").toMatchObject([{ value: true }, { value: true }]);
    expect([...one.slow]).toEqual(["loop@1"]);
    expect(one.spentMs, "two processes were ended").toBeGreaterThan(200);
    expect(one.spentMs).toBeLessThan(500);
    expect(other).toEqual(share());
  });

  it("computes nothing of an account whose time is spent, by features that end or by ones that do not", async () => {
    for (const work of ["for (;;);", "for (let i = 0; i < 2e7; i++);"]) {
      const many = Array.from({ length: 100 }, (_, at) => bundleOf(unless(work), { id: `slow_${at}` }));
      const runner = await open([...many, bundleOf(VALUE)]);
      const one = share();
      const { events } = await runner.run([NOT_FOUND, NOT_FOUND, EVENT], [one, one, share()]);
      expect(events[1]?.at(-1)).toMatchObject(FAILED);
      expect(events[2]?.at(-1)).toMatchObject({ value: true });
      expect(one.spentMs).toBeGreaterThanOrEqual(500);
      expect(one.spentMs).toBeLessThan(1_000);
    }
  });

  it("gives a feature no more time than its own, for all accounts together, and computes the others", async () => {
    const events = Array.from({ length: 40 }, () => NOT_FOUND);
    for (const work of ["for (;;);", "for (let i = 0; i < 5e7; i++);"]) {
      const runner = await open([bundleOf(unless(work), { id: "slow" }), bundleOf(VALUE)]);
      const times = [0, 1].map(() => ({ fullMs: 500, spentMs: 0 }));
      const shares = [...events, EVENT].map(share);
      const computed = await runner.run([...events, EVENT], shares, times);
      expect(computed.events.slice(0, 40).map(([, result]) => result)).toMatchObject(
        events.map(() => ({ value: false })),
      );
      expect(computed.events[40]).toMatchObject([FAILED, { value: true }]);
      expect(shares.filter(({ spentMs }) => spentMs > 0).length, "accounts that had slow events").toBeLessThan(20);
      expect(times[0]?.spentMs).toBeGreaterThanOrEqual(500);
      expect(times[1]?.spentMs).toBe(0);
    }
  });

  it("charges an account for a definition that is slow only when it first sees an event", async () => {
    const memo = `(() => { const seen = new Set(); return ({ su }) => {
      if (!seen.has(su)) for (let i = 0; i < 1e8; i++);
      seen.add(su);
      return true;
    } })()`;
    const runner = await open([bundleOf(memo)], { budgetMs: 10 });
    const one = share();
    const { events } = await runner.run([EVENT], [one]);
    expect(events).toMatchObject([[{ value: true }]]);
    expect(one.spentMs).toBeGreaterThan(20);
  });

  it("charges an account what a new process needs to load the programs", async () => {
    const compute = `(() => { let n = 0; while (n < 4e8) n++; return ${unless("for (;;);")}; })()`;
    const runner = await open([bundleOf(compute, { id: "loop" })]);
    const one = share();
    await runner.run([NOT_FOUND], [one]);
    expect(runner.loadMs).toBeGreaterThan(50);
    expect(one.spentMs, "its time and the load").toBeGreaterThan(100 + runner.loadMs);
  });

  it("charges an account nothing for features that need little time", async () => {
    const one = share();
    const runner = await open([bundleOf(VALUE)], { budgetMs: 100 });
    await runner.run(
      Array.from({ length: 1_000 }, () => EVENT),
      Array.from({ length: 1_000 }, () => one),
    );
    expect(one).toEqual(share());
  });

  it("rejects a batch if an ended process can't be replaced, and computes the next one", async () => {
    const { execPath } = process;
    onTestFinished(() => void Object.defineProperty(process, "execPath", { value: execPath, writable: true }));
    const runner = await open([bundleOf("() => { for (;;); }", { id: "loop" }), bundleOf(VALUE)]);
    let starts = 0;
    const get = (): string => (++starts === 1 ? "/nowhere/node" : execPath);
    Object.defineProperty(process, "execPath", { get, configurable: true });
    await expect(runner.run([EVENT])).rejects.toThrow(NotStarted);
    expect((await runner.run([EVENT])).events).toMatchObject([[FAILED, { value: true }]]);
  });

  it("ends a batch after the signal, once a process was ended", async () => {
    const closing = new AbortController();
    const runner = await open([bundleOf("() => { for (;;); }")], { signal: closing.signal });
    const running = runner.run([EVENT]);
    closing.abort(new Error("closing"));
    await expect(running).rejects.toThrow("closing");
  });

  it("rejects a bundle whose hash does not match, and one that can't be loaded", async () => {
    const bundle = bundleOf(VALUE);
    await expect(openRunner([{ ...bundle, text: `${bundle.text} ` }])).rejects.toThrow(
      "example@1 does not match its hash",
    );
    const other = { ...bundle.manifest, output: number };
    await expect(openRunner([{ ...bundle, manifest: other }])).rejects.toThrow(TypeError);
    await expect(openRunner([bundleOf("1 +")])).rejects.toThrow("the program of example@1 can't be loaded");
  });

  it("rejects a batch after the runner was closed", async () => {
    const runner = await open([bundleOf(VALUE)]);
    await runner.close();
    await expect(runner.run([EVENT])).rejects.toThrow("the runner is closed");
  });
});
