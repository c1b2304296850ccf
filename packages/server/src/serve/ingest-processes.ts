/** The processes that receive events under a supervisor. This class starts, replaces, queries and stops them. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { Counter, Gauge, type Registry } from "prom-client";
import type { Readiness } from "../base/dependencies/readiness.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { mergeMetrics, type MetricSnapshot, snapshotOf, totalsOf } from "./merge-metrics.ts";
import type { Answers, Forked, Instruction, Question, Report } from "./process-messages.ts";
import { RestartPolicy } from "./restart-policy.ts";

/** A process whose main thread does not answer for this long counts as not ready. */
const ANSWER_WITHIN_MS = 1_000;
/** The supervisor ends a process that leaves this many consecutive questions unanswered, after about half a minute. */
const MAX_UNANSWERED = 6;
const WATCH_EVERY_MS = 5_000;
/** A process that does not serve after this time counts as hanging, unless a dependency is not available. */
const START_WITHIN_MS = 60_000;
/** Time between attempts to start a process that has failed to start too often, while other processes serve. */
const RETRY_AFTER_MS = 30_000;
/** Time limit for all processes to end after a stop. It is longer than the limit that each process has for its end. */
const STOP_WITHIN_MS = 10_000;

export interface IngestProcessesOptions {
  readonly count: number;
  readonly fork: () => Forked;
  readonly logger: Logger;
  /** Whether all dependencies can be used. Otherwise a process can't start, which is no error of the process. */
  readonly canServe: () => boolean;
  /** The interval at which each process must answer. */
  readonly watchEveryMs?: number;
  /** Maximum time until a process serves. */
  readonly startWithinMs?: number;
}

export class IngestProcesses {
  readonly #options: IngestProcessesOptions;
  readonly #slots: readonly Slot[];
  readonly #failed = Promise.withResolvers<never>();
  /** Totals of processes that have ended. */
  #endedTotals: readonly MetricSnapshot[] = [];
  #endCount = 0;
  #isStopping = false;
  #watching: NodeJS.Timeout | undefined;

  constructor(options: IngestProcessesOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.count }, (_, index) => new Slot(index + 1));
    this.#failed.promise.catch(() => {});
  }

  /**
   * Rejects when a process can't be started: before all processes have served once, at its first error; later, only if
   * no other process serves.
   */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** @returns the URL of the endpoint when all processes serve. @throws the error of a process that could not start */
  async start(): Promise<string> {
    for (const slot of this.#slots) this.#fork(slot);
    this.#watching = setInterval(() => void this.#watch(), this.#options.watchEveryMs ?? WATCH_EVERY_MS);
    this.#watching.unref();
    const urls = Promise.all(this.#slots.map(({ served }) => served.promise));
    const [url = ""] = await Promise.race([urls, this.failed]);
    return url;
  }

  /** Adds metrics about the processes to the metrics of the supervisor. */
  register(registry: Registry): void {
    const count = (): number => this.#slots.filter(({ process }) => process?.isServing).length;
    const ends = (): number => this.#endCount;
    registry.registerMetric(
      new Gauge({
        name: "drs_processes",
        help: "Processes that take events.",
        registers: [],
        collect() {
          this.set(count());
        },
      }),
    );
    registry.registerMetric(
      new Counter({
        name: "drs_process_ends_total",
        help: "Processes that ended before the server stopped, and were replaced.",
        registers: [],
        collect() {
          this.reset();
          this.inc(ends());
        },
      }),
    );
  }

  /**
   * One page of metrics for the supervisor and its processes. If a process does not answer, its previous values are
   * used.
   */
  async metrics(own: Registry): Promise<string> {
    const running = this.#running();
    await Promise.all(
      running.map(async (process) => {
        process.metrics = (await process.ask("metrics", ANSWER_WITHIN_MS)) ?? process.metrics;
      }),
    );
    const all = [await snapshotOf(own), this.#endedTotals, ...running.map(({ metrics }) => metrics)];
    return mergeMetrics(all).metrics();
  }

  /**
   * Whether the server can store events, and a line for each problem. A line of the supervisor is not repeated for each
   * process. A process that is being replaced gets no connection, so the server is ready if another process serves.
   */
  async readiness(own: Readiness): Promise<Readiness> {
    const found = await Promise.all(this.#slots.map((slot) => slot.readiness()));
    const known = new Set(own.lines.map(withoutStartTime));
    const others = this.#slots.flatMap(({ number }, index) =>
      (found[index]?.lines ?? [])
        .filter((line) => !known.has(withoutStartTime(line)))
        .map((line) => `process ${number}: ${line}`),
    );
    return {
      ready: own.ready && found.every(({ ready }) => ready) && this.#slots.some(({ process }) => process?.isServing),
      lines: [...own.lines, ...others],
    };
  }

  reload(): void {
    for (const process of this.#running()) {
      // guard(true): a process that is being started reads again what it has read before the reload
      if (process.isServing) process.forked.send({ kind: "reload" });
      else process.isReloadDue = true;
    }
  }

  /** Resolves when all processes have answered all accepted requests. */
  async drain(): Promise<void> {
    this.#startNoMore();
    await Promise.all(this.#running().map((process) => process.ask("drain")));
  }

  /** Resolves when all processes have ended. */
  async stop(): Promise<void> {
    this.#startNoMore();
    for (const { forked } of this.#running()) forked.send({ kind: "stop" });
    const ended = Promise.all(this.#running().map((process) => process.ended.promise));
    await Promise.race([ended, sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
    for (const { forked } of this.#running()) forked.kill();
    await ended;
  }

  #startNoMore(): void {
    this.#isStopping = true;
    clearInterval(this.#watching);
    for (const { timer } of this.#slots) clearTimeout(timer);
    for (const { forked, isServing } of this.#running()) if (!isServing) forked.kill();
  }

  /**
   * Ends processes whose main thread hangs, and processes that do not begin to serve in time. `/livez` does not detect
   * them, because the supervisor answers it.
   */
  async #watch(): Promise<void> {
    const { logger, canServe, watchEveryMs = WATCH_EVERY_MS, startWithinMs = START_WITHIN_MS } = this.#options;
    const watch = async ({ number, process }: Slot): Promise<void> => {
      if (!process) return;
      if (!process.isServing) {
        if (performance.now() - process.forkedAt < startWithinMs || !canServe()) return;
        logger.error({ process: number, pid: process.forked.pid }, "process does not begin to serve");
        return process.forked.kill();
      }
      const isAnswered = (await process.ask("readiness", watchEveryMs)) !== undefined;
      process.unansweredCount = isAnswered ? 0 : process.unansweredCount + 1;
      if (process.unansweredCount < MAX_UNANSWERED) return;
      logger.error({ process: number, pid: process.forked.pid }, "process gives no answer");
      process.forked.kill();
    };
    await Promise.all(this.#slots.map(watch));
  }

  #running(): readonly Process[] {
    return this.#slots.flatMap(({ process }) => process ?? []);
  }

  #fork(slot: Slot): void {
    const { fork, logger } = this.#options;
    const { number } = slot;
    const forked = fork();
    const process = new Process(forked);
    slot.process = process;
    forked.onReport((report) => this.#receive(slot, process, report));
    forked.onEnd((how) => this.#replace(slot, process, how));
    logger.info({ process: number, pid: forked.pid }, "process started");
  }

  #receive(slot: Slot, process: Process, report: Report): void {
    // guard(false): a report that arrives after the end of its process is not passed on to the other processes
    if (slot.process !== process) return;
    switch (report.kind) {
      case "loaded": {
        const place = { number: slot.number, processes: this.#slots.length };
        return process.forked.send({ kind: "begin", place });
      }
      case "serving":
        process.servingSince = performance.now();
        slot.failure = undefined;
        if (process.isReloadDue) process.forked.send({ kind: "reload" });
        for (const other of this.#running())
          if (other !== process && other.isServing) other.forked.send({ kind: "inform", process: slot.number });
        return slot.served.resolve(report.url);
      case "failed":
        process.error = new OperatorError(report.code, report.message);
        return;
      case "answer":
        return process.answered(report.id, report.answer);
      case "taken":
        return this.#tellOthers(process, report);
      case "held":
        return this.#tellOthers(process, { ...report, process: slot.number });
      case "informs": {
        const { held, levels } = report;
        const started = this.#slots[report.process - 1]?.process;
        started?.forked.send({ kind: "held", process: slot.number, held });
        started?.forked.send({ kind: "levels", levels });
      }
    }
  }

  #tellOthers(process: Process, instruction: Instruction): void {
    for (const other of this.#running()) if (other !== process) other.forked.send(instruction);
  }

  #replace(slot: Slot, process: Process, how: string): void {
    slot.process = undefined;
    this.#endedTotals = totalsOf([this.#endedTotals, process.metrics]);
    process.ended.resolve(undefined);
    this.#tellOthers(process, { kind: "ended", process: slot.number });
    if (this.#isStopping) return;
    const { number, policy } = slot;
    this.#endCount++;
    this.#options.logger.warn({ process: number, pid: process.forked.pid, end: how }, "process ended");
    const delay = policy.ended({
      ...(process.servingSince !== undefined && { servedMs: performance.now() - process.servingSince }),
      isOutage: !this.#options.canServe(),
    });
    // A first start fails as the start of a server without a supervisor fails.
    const isFirst = process.error !== undefined && this.#slots.some(({ hasServed }) => !hasServed);
    if (delay === undefined || isFirst) {
      const message = `process ${number} ended before it was ready (${how}), again and again: see its lines of the log`;
      const error = process.error ?? new OperatorError("process-failed", message);
      // guard(true): a process that can't be started does not stop the processes that serve
      if (isFirst || !this.#slots.some((other) => other.process?.isServing)) return this.#failed.reject(error);
      slot.failure = error.message;
      this.#options.logger.error({ process: number, code: error.code, problem: error.message }, "process can't start");
    }
    slot.timer = setTimeout(() => this.#fork(slot), delay ?? RETRY_AFTER_MS);
  }
}

/** Removes the time at which a problem began, because processes detect one outage at different times. */
const withoutStartTime = (line: string): string => line.replace(/ \(since [^)]*\)$/, "");

/** The place of a process and of its replacements. */
class Slot {
  readonly number: number;
  readonly policy = new RestartPolicy();
  /** Resolves with the URL when the first process of the slot serves. */
  readonly served = Promise.withResolvers<string>();
  hasServed = false;
  /** Why no process of the slot can start; set after too many attempts. */
  failure: string | undefined;
  process: Process | undefined;
  timer: NodeJS.Timeout | undefined;

  constructor(number: number) {
    this.number = number;
    void this.served.promise.then(() => (this.hasServed = true));
  }

  async readiness(): Promise<Readiness> {
    if (!this.process?.isServing) return { ready: true, lines: [this.failure ?? "is being started"] };
    const found = await this.process.ask("readiness", ANSWER_WITHIN_MS);
    return found ?? { ready: false, lines: [`gave no answer within ${ANSWER_WITHIN_MS} ms`] };
  }
}

/** One process, until it ends. */
class Process {
  readonly forked: Forked;
  readonly ended = Promise.withResolvers<undefined>();
  /** When the process was started, by `performance.now`. */
  readonly forkedAt = performance.now();
  /** Whether a reload was requested before the process served. */
  isReloadDue = false;
  /** When the process began to serve, by `performance.now`. */
  servingSince: number | undefined;
  /** The error with which the start of the process failed. */
  error: OperatorError | undefined;
  metrics: readonly MetricSnapshot[] = [];
  /** The number of consecutive questions without an answer. */
  unansweredCount = 0;
  readonly #questions = new Map<number, (answer: never) => void>();
  #lastId = 0;

  constructor(forked: Forked) {
    this.forked = forked;
  }

  get isServing(): boolean {
    return this.servingSince !== undefined;
  }

  /** @returns `undefined` if the process ends first, or does not answer in time. */
  async ask<Q extends Question>(question: Q, withinMs?: number): Promise<Answers[Q] | undefined> {
    const id = ++this.#lastId;
    const answer = new Promise<Answers[Q]>((resolve) => this.#questions.set(id, resolve));
    this.forked.send({ kind: "ask", id, question });
    const tooLate = withinMs === undefined ? [] : [sleep(withinMs, undefined, { ref: false })];
    const first = await Promise.race([answer, this.ended.promise, ...tooLate]);
    this.#questions.delete(id);
    return first;
  }

  answered(id: number, answer: Answers[Question]): void {
    this.#questions.get(id)?.(answer as never);
  }
}
