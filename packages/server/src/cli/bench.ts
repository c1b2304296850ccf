import { randomUUID } from "node:crypto";
import type { Agent } from "node:http";
import { LIMITS } from "@device-risk-signals/contract";
import { Command, InvalidArgumentError, Option } from "commander";
import { webUrl } from "../base/config/values.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { http, https } from "../base/node-http.ts";
import { EVENTS_PATH } from "../ingest/request.ts";
import { plural } from "../base/messages/plural.ts";
import { BENCH_SESSION, benchEvent } from "./bench-event.ts";
import { confirm } from "./confirm.ts";
import { type Context, print, printJson } from "./context.ts";
import { example, name } from "./options.ts";

const MAX_EVENTS = 100_000;
const MAX_CONNECTIONS = 256;
/** A request that gets no answer for this long is ended, and counts as an error. */
const ANSWER_WITHIN_MS = 60_000;

interface BenchOptions {
  readonly url: string;
  readonly token: string;
  readonly action: string;
  readonly type: string;
  readonly events: number;
  readonly connections: number;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function benchCommand(context: Context): Command {
  return new Command("bench")
    .requiredOption("--url <url>", "the endpoint, such as https://signals.example", urlOf)
    .requiredOption("--token <token>", "a session token of an account that only benches use")
    .requiredOption("--action <id>", "an action of this account", name("an action id", LIMITS.actionId))
    .addOption(
      new Option("--type <type>", "the action's type").argParser(name("a type", LIMITS.actionType)).default("bench"),
    )
    .requiredOption("--events <number>", `number of events, at most ${MAX_EVENTS}`, wholeUpTo(MAX_EVENTS))
    .addOption(
      new Option("--connections <number>", "requests at the same time")
        .argParser(wholeUpTo(MAX_CONNECTIONS))
        .default(32),
    )
    .option("--yes", "do not ask")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      example("drs bench --url https://signals.example --token TOKEN --action ACTION_ID --events 5000 --yes"),
    )
    .action((options: BenchOptions) => bench(context, options));
}

function urlOf(text: string): string {
  const result = webUrl.read(text);
  if ("problem" in result) throw new InvalidArgumentError(`It ${result.problem}.`);
  return result.value;
}

const wholeUpTo =
  (most: number) =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    if (value < 1 || value > most) throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`);
    return value;
  };

/** @throws bench-failed if an event was not stored; wrong-usage without a confirmation. */
async function bench(context: Context, options: BenchOptions): Promise<void> {
  const what = `${options.url} will store ${plural(options.events, "event")} of about 12 KB.`;
  await confirm(context, { what, yes: options.yes });
  const { latencies, seconds, answers } = await measure(options);
  const stored = answers.get("201") ?? 0;
  const result = {
    events: options.events,
    stored,
    errors: options.events - stored,
    seconds: round(seconds),
    events_per_second: Math.round(stored / seconds),
    p50_ms: round(percentile(latencies, 0.5)),
    p99_ms: round(percentile(latencies, 0.99)),
    answers: Object.fromEntries(answers),
  };
  if (options.json) printJson(context, result);
  else {
    print(context, `${result.events_per_second} events/s, p50 ${result.p50_ms} ms, p99 ${result.p99_ms} ms`);
    print(context, `${plural(stored, "event")} stored in ${result.seconds} s, ${plural(result.errors, "error")}`);
  }
  if (result.errors === 0) return;
  const found = [...answers].map(([answer, times]) => `${answer}: ${times}`).join(", ");
  throw new OperatorError("bench-failed", `Not all events were stored. Answers: ${found}`);
}

interface Measured {
  readonly latencies: readonly number[];
  readonly seconds: number;
  /**
   * The number of answers by status; `none` counts requests whose connection failed or whose answer did not come in
   * time.
   */
  readonly answers: ReadonlyMap<string, number>;
}

async function measure(options: BenchOptions): Promise<Measured> {
  const { events, connections } = options;
  const isTls = options.url.startsWith("https:");
  const agent = new (isTls ? https : http).Agent({ keepAlive: true, maxSockets: connections });
  const latencies: number[] = [];
  const answers = new Map<string, number>();
  let sent = 0;
  const work = async (): Promise<void> => {
    while (sent++ < events) {
      const body = bodyOf(options);
      const started = performance.now();
      const answer = await post(options, body, agent);
      latencies.push(performance.now() - started);
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: Math.min(connections, events) }, work));
  agent.destroy();
  return { latencies: latencies.toSorted((a, b) => a - b), seconds: (performance.now() - started) / 1_000, answers };
}

const bodyOf = ({ action, type }: BenchOptions): string =>
  JSON.stringify({
    action_id: action,
    action_type: type,
    sdk_version: "0.0.0-bench",
    platform: "android",
    app_version: BENCH_SESSION,
    observations: benchEvent(Math.random, new Date()),
  });

function post({ url, token }: BenchOptions, body: string, agent: Agent): Promise<string> {
  const { request } = url.startsWith("https:") ? https : http;
  const headers = {
    Authorization: `Bearer ${token}`,
    "Idempotency-Key": randomUUID(),
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
  };
  return new Promise((resolve) => {
    const options = { method: "POST", agent, headers, timeout: ANSWER_WITHIN_MS };
    const sent = request(new URL(EVENTS_PATH, url), options, (response) => {
      response.resume();
      response.on("end", () => resolve(String(response.statusCode)));
      response.on("error", () => resolve("none"));
    });
    sent.on("timeout", () => sent.destroy());
    sent.on("error", () => resolve("none"));
    sent.end(body);
  });
}

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

const round = (value: number): number => Math.round(value * 100) / 100;
