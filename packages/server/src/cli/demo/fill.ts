/**
 * Fills an empty installation with a demo. A server gets requests by HTTP, and people run commands through its admin
 * API. Only the phones, the people and the time are not real.
 */
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Logger, pino } from "pino";
import { stringify } from "yaml";
import { issueAdminToken } from "../../access/identity/admin-tokens.ts";
import { writeAudit } from "../../audit/audit.ts";
import { type Config, type Environment, isOwnVariable } from "../../base/config/config.ts";
import { type Path, settingOf } from "../../base/config/settings.ts";
import { isWorkWaiting } from "../../features/extraction-due.ts";
import { EVENTS_PATH } from "../../ingest/request.ts";
import { checkpointNow } from "../../runtime/audit-log.ts";
import { createErrorLog } from "../../runtime/error-log.ts";
import { openSystem, type System } from "../../runtime/system.ts";
import { type Service, startService } from "../../serve/service.ts";
import { inOwnerTransaction } from "../../store/postgres/database.ts";
import { agentOf, type Context, loadConfig } from "../context.ts";
import { runProgram } from "../run-program.ts";
import { DemoClock } from "./demo-clock.ts";
import { ACCOUNTS, changed, type DemoRequest, requestOf, type Visit, visitOf, visitsOf } from "./requests.ts";
import {
  DAYS,
  FEATURES,
  LABEL_DAY,
  PEOPLE,
  type Person,
  PHONES,
  POLICY,
  REJECTED,
  RETRIED,
  SECOND_VERSION,
  type Step,
  STEPS,
} from "./story.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const MORNING_MINUTE = 7 * 60;
const REJECTED_MINUTE = 20 * 60;
const EVENING_MINUTE = 21 * 60;
/** Tokens are valid until a day after the demo's last day. */
const TOKEN_DAYS = DAYS + 1;

export interface Filled {
  readonly accounts: number;
  readonly events: number;
  readonly replays: number;
  readonly conflicts: number;
  readonly rejected: number;
}

/** Where the stores and the keys are. Of the server's variables, the demo uses only those of these settings. */
const STORES: readonly Path[] = [
  "database.directory",
  "keys.directory",
  "keys.encryptionKey",
  "keys.previousEncryptionKey",
  "keys.encryptionKeyFile",
  "keys.encryptionKeyCommand",
  "journal.directory",
  "audit.checkpointDirectory",
  "audit.keyFile",
];

const SETTINGS: Partial<Readonly<Record<Path, string>>> = {
  "service.port": "0",
  "service.admin.port": "0",
  "service.logLevel": "warn",
  "retention.intervalMs": "24h",
  // A server that stops ends all calls of its system after this time, and the demo continues with the same system.
  "service.drainTimeoutMs": "1h",
};

const variablesOf = (settings: Partial<Readonly<Record<Path, string>>>): Environment =>
  Object.fromEntries(Object.entries(settings).map(([path, text]) => [settingOf(path as Path).variable, text]));

/** @param directory where the demo writes its files. */
export async function fillDemo(context: Context, directory: string): Promise<Filled> {
  const ofStores = new Set<string>(STORES.map((path) => settingOf(path).variable));
  const given = Object.entries(context.environment).filter(([name]) => !isOwnVariable(name) || ofStores.has(name));
  const environment: Environment = { ...Object.fromEntries(given), ...variablesOf(SETTINGS) };
  const config = loadConfig({ ...context, environment });
  const logger = pino({ level: config.service.logLevel }, context.stderr as never);
  const onError = createErrorLog(logger);
  const clock = new DemoClock();
  const system = await openSystem(config, { clock, asServer: true, environment, onError });
  try {
    const demo = new Demo({ ...context, environment, directory, clock }, { system, clock, logger });
    await demo.begin();
    for (let day = 0; day < DAYS; day++) await demo.liveThrough(day);
    await demo.end();
    return demo.filled;
  } finally {
    await system.close();
  }
}

interface DemoParts {
  readonly system: System;
  readonly clock: DemoClock;
  readonly logger: Logger;
}

class Demo {
  readonly #context: Context;
  readonly #system: System;
  readonly #clock: DemoClock;
  readonly #logger: Logger;
  /** Midnight at the start of day 0, in UTC. */
  readonly #start = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAYS * DAY_MS;
  readonly #adminTokens = new Map<Person, string>();
  readonly #tokens = new Map<string, string>();
  /** Values for the commands of the story. */
  readonly #kept = new Map<string, string>();
  /** Numbers of answers by status. */
  readonly #answers = new Map<number, number>();

  constructor(context: Context, { system, clock, logger }: DemoParts) {
    this.#context = context;
    this.#system = system;
    this.#clock = clock;
    this.#logger = logger;
  }

  get filled(): Filled {
    const countOf = (...statuses: readonly number[]): number =>
      statuses.reduce((sum, status) => sum + (this.#answers.get(status) ?? 0), 0);
    const rejections = [...this.#answers.keys()].filter((status) => status >= 400 && status !== 409);
    return {
      accounts: ACCOUNTS.length,
      events: countOf(201),
      replays: countOf(200),
      conflicts: countOf(409),
      rejected: countOf(...rejections),
    };
  }

  /** Moves the clock back to the first day, and issues the tokens of people. */
  async begin(): Promise<void> {
    const { administration, audit } = this.#system;
    await this.#clock.begin(administration, this.#timeOf(0, MORNING_MINUTE));
    for (const [person, role] of Object.entries(PEOPLE) as [Person, (typeof PEOPLE)[Person]][]) {
      const wanted = { person, roles: [role], ttlMs: TOKEN_DAYS * DAY_MS };
      await inOwnerTransaction(administration, async (owner) => {
        const { token, token_id, roles, expires_at } = await issueAdminToken(owner, this.#clock, wanted);
        const entry = { ...agentOf(this.#context), operation: "admin-token.issue", outcome: "done" };
        await writeAudit(owner, audit, { ...entry, detail: { token_id, person, roles, expires_at } });
        this.#adminTokens.set(person, token);
      });
    }
    const { directory } = this.#context;
    await mkdir(directory, { mode: 0o700 });
    await copyFeatures(join(directory, "features"), FEATURES);
    await writeSecondVersion(join(directory, "second-version"));
    await writeFile(join(directory, "purposes.yaml"), stringify(POLICY));
    await writeFile(join(directory, "labels.csv"), labels(this.#timeOf(LABEL_DAY, 0)));
  }

  async liveThrough(day: number): Promise<void> {
    this.#context.stderr.write(`Day ${day + 1} of ${DAYS}\n`);
    const { config } = this.#system;
    // The clock moves between the events, so that nothing may be computed meanwhile.
    const daytime = { ...config, features: { ...config.features, worker: false } };
    await this.#withService(daytime, (service) => this.#sendRequests(service, day));
    // Only a person who signed in could give an approval.
    const evening = { ...config, service: { ...config.service, approvals: "off" } } as const;
    await this.#advanceTo(day, EVENING_MINUTE);
    await this.#withService(evening, (service) => this.#takeSteps(service, day));
  }

  /** Takes the steps of the present, and gives the installation the ordinary clock. */
  async end(): Promise<void> {
    await this.#advanceTo(DAYS, Number.POSITIVE_INFINITY);
    await this.#withService(this.#system.config, async (service) => {
      await this.#sendRejected(service, DAYS);
      await this.#takeSteps(service, DAYS);
    });
    await this.#clock.end(this.#system.administration);
  }

  readonly #timeOf = (day: number, minute: number): number => this.#start + day * DAY_MS + minute * MINUTE_MS;

  readonly #advanceTo = (day: number, minute: number): Promise<void> =>
    this.#clock.advanceTo(this.#system.administration, this.#timeOf(day, minute));

  async #withService(config: Config, work: (service: Service) => Promise<void>): Promise<void> {
    const service = await startService({ ...this.#system, config }, this.#logger);
    try {
      await work(service);
    } finally {
      await service.stop();
    }
    for (const error of await checkpointNow(this.#system)) throw error;
  }

  async #sendRequests(service: Service, day: number): Promise<void> {
    for (const visit of visitsOf(day)) {
      await this.#advanceTo(day, visit.minute);
      const request = await this.#prepare(service, visit);
      await this.#send(service, request);
      for (const { appVersion } of RETRIED.filter((one) => one.day === day && one.account === visit.account)) {
        await this.#send(service, {
          ...request,
          body: { ...request.body, ...(appVersion !== undefined && { app_version: appVersion }) },
        });
      }
    }
    await this.#advanceTo(day, REJECTED_MINUTE);
    await this.#sendRejected(service, day);
  }

  async #sendRejected(service: Service, day: number): Promise<void> {
    for (const rejected of REJECTED.filter((one) => one.day === day)) {
      const request = await this.#prepare(service, visitOf(rejected.account, day));
      for (let time = 0; time < rejected.times; time++) {
        await this.#send(service, changed(request, rejected, `${rejected.account}-${day}-${time}`));
      }
    }
  }

  /** Issues a token to an account that has none, and registers the action. @returns the request of the visit */
  async #prepare(service: Service, visit: Visit): Promise<DemoRequest> {
    const { account, actionType, actionId, sessionId } = visit;
    const ask = (line: string): Promise<Answer> => this.#ask(service, { by: "backend", run: line });
    let token = this.#tokens.get(account);
    if (token === undefined) {
      token = String((await ask(`token issue --account ${account} --ttl ${TOKEN_DAYS}d`))["token"]);
      this.#tokens.set(account, token);
    }
    await ask(`action register --account ${account} --type ${actionType} --id ${actionId} --session ${sessionId}`);
    return requestOf(visit, token, this.#clock.now());
  }

  async #send({ url }: Service, { headers, body }: DemoRequest): Promise<void> {
    const response = await fetch(new URL(EVENTS_PATH, url), { method: "POST", headers, body: JSON.stringify(body) });
    const text = await response.text();
    if (response.status >= 500) throw new Error(`the endpoint answered ${response.status}: ${text}`);
    this.#answers.set(response.status, (this.#answers.get(response.status) ?? 0) + 1);
  }

  /** Takes the steps of an evening, a minute after each other, when the features of the day are computed. */
  async #takeSteps(service: Service, day: number): Promise<void> {
    const untilComputed = async (): Promise<void> => {
      while (await isWorkWaiting(this.#system.pool)) await sleep(20);
    };
    await untilComputed();
    for (const [index, step] of STEPS.filter((one) => one.day === day).entries()) {
      await this.#advanceTo(day, EVENING_MINUTE + index);
      if (!step.keep) await this.#run(service, step);
      else {
        const answer = await this.#ask(service, step);
        for (const [name, member] of Object.entries(step.keep)) this.#kept.set(name, String(answer[member]));
      }
      await untilComputed();
    }
  }

  /** Runs a command with `--json`. @returns the first object that it printed */
  async #ask(service: Service, step: Pick<Step, "by" | "run" | "exit">): Promise<Answer> {
    const [first = ""] = (await this.#run(service, { ...step, run: `${step.run} --json` })).split("\n");
    return JSON.parse(first) as Answer;
  }

  /** Runs a command through the admin API. @returns what it printed */
  async #run({ adminUrl }: Service, { by, run, exit = 0 }: Pick<Step, "by" | "run" | "exit">): Promise<string> {
    const line = run.replaceAll(/\{([^}]+)\}/g, (_, name: string) => this.#kept.get(name) ?? dateIn(name));
    const words = (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ""));
    const stdout = new Collector();
    const stderr = new Collector();
    const credential = { "service.remote.url": adminUrl, "service.remote.token": this.#adminTokens.get(by) ?? "" };
    const environment = { ...this.#context.environment, ...variablesOf(credential) };
    const streams = { stdout, stderr, isTerminal: false, onInterrupt: () => {} };
    const code = await runProgram({ ...this.#context, ...streams, environment }, words);
    if (code !== exit) throw new Error(`drs ${line}, by ${by}: exit code ${code}\n${stderr.text}${stdout.text}`);
    return stdout.text;
  }
}

type Answer = Readonly<Record<string, unknown>>;

/** Copies starter features, which are in the package of the language of definitions. */
async function copyFeatures(folder: string, ids: readonly string[]): Promise<void> {
  const starter = join(dirname(fileURLToPath(import.meta.resolve("@device-risk-signals/features"))), "starter");
  const own = new Set(ids.map(fileNameOf));
  await cp(starter, folder, {
    recursive: true,
    filter: (path) => path === starter || path.endsWith(".lock.json") || own.has(basename(path).split(".")[0] ?? ""),
  });
}

const fileNameOf = (id: string): string => id.replaceAll("_", "-");

/** Writes the second version of a starter feature into a folder of its own. */
async function writeSecondVersion(folder: string): Promise<void> {
  await copyFeatures(folder, [SECOND_VERSION.id]);
  const file = join(folder, `${fileNameOf(SECOND_VERSION.id)}.feature.ts`);
  let text = await readFile(file, "utf8");
  for (const [before, after] of SECOND_VERSION.changes) {
    if (!text.includes(before)) throw new Error(`${file} has no ${before}`);
    text = text.replace(before, after);
  }
  await writeFile(file, text);
}

/** @param text such as `in 90 days` */
const dateIn = (text: string): string =>
  new Date(Date.now() + Number(/\d+/.exec(text)?.[0]) * DAY_MS).toISOString().slice(0, 10);

/** A label for each account, as a fraud team might have them: fraud on phones that are compromised or not real. */
function labels(at: number): string {
  const time = new Date(at).toISOString();
  const rows = ACCOUNTS.map((account, index) => {
    const isFraud = /root|jailbr|hook|magisk|emulator|simulator|farm/.test(PHONES[index]?.join() ?? "");
    return `${account},${time},${isFraud ? "fraud" : "none"}\n`;
  });
  return `account,label_time,label\n${rows.join("")}`;
}

class Collector extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#chunks.push(Buffer.from(chunk));
    done();
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}
