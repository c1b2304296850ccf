/** Processes of definitions whose parent is killed. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it, onTestFinished, vi } from "vitest";
import { bundleOf } from "../bundle.fixture.ts";
import { V8_ARGUMENTS } from "./child-process.ts";
import { IsolatedProcess } from "./isolated-process.ts";

const moduleAt = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
const bundle = (compute: string): string => JSON.stringify(bundleOf(compute));
const EVENT = `readEvent({ platform: "android", probes: {} })`;
const IMPORTS = `import { openRunner } from ${moduleAt("runner.ts")}; import { readEvent } from ${moduleAt("../readings/readings.ts")};
  import { computeInQuickJs } from ${moduleAt("../check/quickjs.ts")};`;

/** The ids and the processor time, in seconds, of the children of a process. */
const childrenOf = (pid: number | undefined): readonly { readonly pid: number; readonly seconds: number }[] =>
  execFileSync("ps", ["-A", "-o", "pid=,ppid=,time="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [child, parent, time = ""] = line.trim().split(/\s+/);
      const seconds = time.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
      return Number(parent) === pid ? [{ pid: Number(child), seconds }] : [];
    });

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

it.each([
  ["a definition", 1, `(await openRunner([${bundle("() => { for (;;); }")}], { budgetMs: 60_000 })).run([${EVENT}])`],
  // The processor time in which a definition may load is short.
  ["a definition that loads", 0, `openRunner([${bundle("(() => { for (;;); })()")}])`],
  [
    "a definition on QuickJS",
    1,
    `computeInQuickJs([${bundle("() => new Array(2 ** 32 - 1).indexOf(1) === 0")}], [{ feature: 0, read: ${EVENT} }], 60_000)`,
  ],
])("a process in which %s does not end is killed soon after its parent", async (_, busy, code) => {
  const parent = spawn(process.execPath, ["--input-type=module", "--eval", `${IMPORTS} await ${code}`], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  onTestFinished(() => void parent.kill("SIGKILL"));
  const find = (): number => {
    const child = childrenOf(parent.pid).find(({ seconds }) => seconds >= busy);
    if (!child) throw new Error("no process is busy yet");
    return child.pid;
  };
  const child = await vi.waitFor(find, { timeout: 20_000, interval: 100 });
  parent.kill("SIGKILL");
  await once(parent, "exit");
  onTestFinished(() => void (isAlive(child) && process.kill(child, "SIGKILL")));
  await vi.waitFor(() => expect(isAlive(child)).toBe(false), { timeout: 5_000, interval: 50 });
});

it("a process ends when its program has taken too much processor time, although its parent waits longer", async () => {
  const child = new IsolatedProcess(V8_ARGUMENTS);
  onTestFinished(() => child.kill());
  const { text } = bundleOf("(() => { for (;;); })()");
  const bundles = [{ text, layout: "{}" }];
  expect(await child.ask({ bundles, budgetMs: 1, endMs: 100 }, 600_000)).toBeUndefined();
  expect(child.hasEnded).toBe(true);
});
