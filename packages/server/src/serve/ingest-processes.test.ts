/** Tests of the supervisor with simulated processes. */
import { pino } from "pino";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { describe, expect, it, vi } from "vitest";
import type { Readiness } from "../base/dependencies/readiness.ts";
import { IngestProcesses } from "./ingest-processes.ts";
import { snapshotOf } from "./merge-metrics.ts";
import type { Answers, Forked, Instruction, Report } from "./process-messages.ts";

const READY: Readiness = { ready: true, lines: [] };

class FakeProcess implements Forked {
  readonly pid = 1;
  readonly received: Instruction[] = [];
  isKilled = false;
  answers: Partial<Answers> = { readiness: READY };
  #report: (report: Report) => void = () => {};
  #end: (how: string) => void = () => {};

  send(instruction: Instruction): void {
    this.received.push(instruction);
    if (instruction.kind === "stop") this.end("exit code 0");
    if (instruction.kind !== "ask") return;
    const answer = this.answers[instruction.question];
    if (answer !== undefined) this.report({ kind: "answer", id: instruction.id, answer });
  }

  onReport(listener: (report: Report) => void): void {
    this.#report = listener;
  }

  onEnd(listener: (how: string) => void): void {
    this.#end = listener;
  }

  kill(): void {
    this.isKilled = true;
    this.end("SIGKILL");
  }

  report(report: Report): void {
    this.#report(report);
  }

  serve(): void {
    this.report({ kind: "loaded" });
    this.report({ kind: "serving", url: "http://127.0.0.1:8080" });
  }

  end(how: string): void {
    this.#end(how);
  }
}

function supervise(
  count: number,
  watchEveryMs = 60_000,
  startWithinMs = 60_000,
  onReplacement: (process: FakeProcess) => void = () => {},
) {
  const forked: FakeProcess[] = [];
  const fork = (): Forked => {
    const process = new FakeProcess();
    if (forked.push(process) > count) onReplacement(process);
    return process;
  };
  const logger = pino({ level: "silent" });
  const options = { count, fork, logger, canServe: () => true, watchEveryMs, startWithinMs };
  return { forked, processes: new IngestProcesses(options) };
}

async function serving(count: number) {
  const supervised = supervise(count);
  const started = supervised.processes.start();
  for (const process of supervised.forked) process.serve();
  expect(await started).toBe("http://127.0.0.1:8080");
  return supervised;
}

async function makeRegistry(requests: number, lag: number, up: number): Promise<Answers["metrics"]> {
  const registry = new Registry();
  const registers = [registry];
  new Counter({ name: "requests", help: "-", labelNames: ["status"], registers }).inc({ status: "201" }, requests);
  new Histogram({ name: "seconds", help: "-", buckets: [1], registers }).observe(0.5);
  new Gauge({ name: "lag", help: "-", aggregator: "average", registers }).set(lag);
  new Gauge({ name: "up", help: "-", aggregator: "min", registers }).set(up);
  new Gauge({ name: "in_flight", help: "-", registers }).set(1);
  return snapshotOf(registry);
}

describe("a supervisor", () => {
  it("numbers its processes, and is ready if all are ready and at least one serves", async () => {
    const { forked, processes } = supervise(2);
    const started = processes.start();
    const [first, second] = forked as [FakeProcess, FakeProcess];
    first.serve();
    expect(first.received).toEqual([{ kind: "begin", place: { number: 1, processes: 2 } }]);
    expect(await processes.readiness(READY)).toEqual({ ready: true, lines: ["process 2: is being started"] });
    second.serve();
    await started;
    expect(await processes.readiness(READY)).toEqual(READY);

    second.answers = { readiness: { ready: false, lines: ["database: can't be reached"] } };
    expect(await processes.readiness(READY)).toEqual({
      ready: false,
      lines: ["process 2: database: can't be reached"],
    });
    const own = { ready: false, lines: ["database: can't be reached (since 2027-01-31T08:00:00.000Z)"] };
    second.answers = { readiness: { ...own, lines: ["database: can't be reached (since 2027-01-31T08:00:01.000Z)"] } };
    expect(await processes.readiness(own)).toEqual(own);
  });

  it("is not ready while a process does not answer, or if none serves", async () => {
    const { forked, processes } = await serving(1);
    const [only] = forked as [FakeProcess];
    only.answers = {};
    const lines = ["process 1: gave no answer within 1000 ms"];
    const silent = processes.readiness(READY);
    only.end("SIGKILL");
    expect(await silent).toEqual({ ready: false, lines });
    expect(await processes.readiness(READY)).toEqual({ ready: false, lines: ["process 1: is being started"] });
  });

  it("adds up counters, including those of ended processes, and takes the worst value of each gauge", async () => {
    const { forked, processes } = await serving(2);
    const [first, second] = forked as [FakeProcess, FakeProcess];
    first.answers = { metrics: await makeRegistry(5, 0.1, 1) };
    second.answers = { metrics: await makeRegistry(7, 0.3, 0) };
    const own = new Registry();
    processes.register(own);
    const page = await processes.metrics(own);
    expect(page.split("\n")).toEqual(
      expect.arrayContaining([
        'requests{status="201"} 12',
        "seconds_count 2",
        "lag 0.3",
        "up 0",
        "in_flight 2",
        "drs_processes 2",
        "drs_process_ends_total 0",
      ]),
    );

    second.end("SIGKILL");
    const later = (await processes.metrics(own)).split("\n");
    expect(later).toEqual(
      expect.arrayContaining([
        'requests{status="201"} 12',
        "seconds_count 2",
        "lag 0.1",
        "up 1",
        "in_flight 1",
        "drs_processes 1",
        "drs_process_ends_total 1",
      ]),
    );
  });

  it("passes on what a process took and holds, and that it has ended", async () => {
    const { forked } = await serving(3);
    forked[1]?.report({ kind: "taken", taken: [["account", "a", 3]] });
    const received = forked.map((process) => process.received.some(({ kind }) => kind === "taken"));
    expect(received).toEqual([true, false, true]);
    forked[1]?.report({ kind: "held", held: [["a", 1, 100]] });
    expect(forked[0]?.received.at(-1)).toEqual({ kind: "held", process: 2, held: [["a", 1, 100]] });
    forked[1]?.end("SIGKILL");
    forked[1]?.report({ kind: "held", held: [["a", 2, 200]] });
    expect(forked[0]?.received.at(-1)).toEqual({ kind: "ended", process: 2 });
  });

  it("asks the other processes to inform a process that replaces an ended one", async () => {
    const { forked } = await serving(2);
    forked[1]?.end("SIGKILL");
    await expect.poll(() => forked.length).toBe(3);
    const [first, , replacement] = forked as [FakeProcess, FakeProcess, FakeProcess];
    replacement.serve();
    expect(first.received.at(-1)).toEqual({ kind: "inform", process: 2 });
    first.report({ kind: "informs", process: 2, held: [["a", 1, 100]], levels: [["account", "a", 7]] });
    expect(replacement.received.slice(-2)).toEqual([
      { kind: "held", process: 1, held: [["a", 1, 100]] },
      { kind: "levels", levels: [["account", "a", 7]] },
    ]);
  });

  it("keeps the processes that serve when another can't be started, and reports it", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { forked, processes } = await serving(2);
      const fail = (): void => {
        forked.at(-1)?.report({ kind: "failed", code: "adopted-fields-invalid", message: "the file is invalid" });
        forked.at(-1)?.end("exit code 1");
        vi.advanceTimersByTime(1_000);
      };
      forked[0]?.end("SIGKILL");
      vi.advanceTimersByTime(0);
      for (let start = 0; start < 5; start++) fail();
      const lines = ["process 1: the file is invalid"];
      expect(await processes.readiness(READY)).toEqual({ ready: true, lines });
      expect(forked).toHaveLength(7);
      vi.advanceTimersByTime(30_000);
      expect(forked).toHaveLength(8);
      forked.at(-1)?.serve();
      expect(await processes.readiness(READY)).toEqual(READY);
    } finally {
      vi.useRealTimers();
    }
  });

  it("fails when no process serves and none can be started", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { forked, processes } = await serving(1);
      for (let end = 0; end < 6; end++) {
        forked.at(-1)?.end("exit code 1");
        vi.advanceTimersByTime(1_000);
      }
      await expect(processes.failed).rejects.toMatchObject({ code: "process-failed" });
      expect(forked).toHaveLength(6);
    } finally {
      vi.useRealTimers();
    }
  });

  it("reloads a process that is being started, as soon as it serves", async () => {
    const { forked, processes } = supervise(2);
    const started = processes.start();
    forked[0]?.serve();
    processes.reload();
    expect(forked[0]?.received.at(-1)).toEqual({ kind: "reload" });
    expect(forked[1]?.received).toEqual([]);
    forked[1]?.serve();
    await started;
    expect(forked[1]?.received.at(-1)).toEqual({ kind: "reload" });
  });

  it("replaces a process that hangs in its start", async () => {
    const { forked, processes } = supervise(1, 5, 20, (process) => setImmediate(() => process.serve()));
    expect(await processes.start()).toBe("http://127.0.0.1:8080");
    expect(forked.map(({ isKilled }) => isKilled)).toEqual([true, false]);
    await processes.stop();
  });

  it("replaces a process, and drains and stops all", async () => {
    const { forked, processes } = await serving(2);
    forked[0]?.end("exit code 1");
    await expect.poll(() => forked.length).toBe(3);
    forked[2]?.serve();
    expect(forked[2]?.received[0]).toEqual({ kind: "begin", place: { number: 1, processes: 2 } });
    const drained = processes.drain();
    forked[1]?.report({ kind: "answer", id: 1, answer: true });
    forked[2]?.end("SIGKILL");
    await drained;
    await processes.stop();
    expect(forked).toHaveLength(3);
    expect(forked[1]?.received.at(-1)).toEqual({ kind: "stop" });
  });

  it("replaces a process whose main thread hangs", async () => {
    const { forked, processes } = supervise(2, 5);
    const started = processes.start();
    for (const process of forked) process.serve();
    await started;
    const [first, second] = forked as [FakeProcess, FakeProcess];
    first.answers = {};
    await expect.poll(() => forked.length).toBe(3);
    expect(first.received.length).toBeGreaterThan(6);
    expect(second.received.some(({ kind }) => kind === "ended")).toBe(true);
    await processes.stop();
  });

  it("starts no process while it stops", async () => {
    const { forked, processes } = supervise(2);
    const started = processes.start();
    started.catch(() => {});
    forked[0]?.serve();
    forked[0]?.end("SIGKILL");
    const drained = processes.drain();
    await drained;
    await processes.stop();
    expect(forked).toHaveLength(2);
    expect(forked[1]?.isKilled).toBe(true);
  });

  it("fails like the first start of a process", async () => {
    const { forked, processes } = supervise(2);
    const started = processes.start();
    forked[0]?.serve();
    forked[1]?.report({ kind: "failed", code: "listener-failed", message: "port 80 is taken" });
    forked[1]?.end("exit code 0");
    await expect(started).rejects.toMatchObject({ code: "listener-failed", message: "port 80 is taken" });
  });
});
