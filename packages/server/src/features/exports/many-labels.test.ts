/** Tests of label files: 10,000 rows in `npm test`, 10 million in `npm run soak` or with `LABELS=10000000`. */
import { createReadStream, createWriteStream, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { contextWith, withBreakGlass } from "../../../../../e2e/support/command.ts";
import { Past } from "../../../../../e2e/support/past-event.ts";
import { spawnDrs } from "../../../../../e2e/support/server.ts";
import { fullRounds } from "../../../../../e2e/support/soak.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import { runProgram } from "../../cli/run-program.ts";
import { adoptFound, textOfEvent } from "../adopt-feature.fixture.ts";
import { extractNext } from "../extraction-worker.ts";
import { LayerRunners } from "../layer-runners.ts";
import { createParserOf } from "../read-inputs.ts";
import { checkLabels } from "./check-labels.ts";
import { ORDER } from "./exports.fixture.ts";
import { beginExport, prepareExport } from "./run-export.ts";

/** With this number of rows, the memory that a process uses at first does not matter. */
const FULL_ROWS = 1_000_000;
const ROWS = Number(process.env["LABELS"] ?? fullRounds(10_000, 10_000_000));
const TIMEOUT_MS = fullRounds(60_000, 3_600_000);
const MEBIBYTE = 2 ** 20;
/** Bytes that the process keeps for each row, to find a later row that is equal. */
const BYTES_A_ROW = 36;
const ACCOUNTS = 10;

const folder = useFolder();
const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const path = (name: string): string => join(folder(), name);
/** The time of the first row. Each later row is a microsecond later, and all are in the past. */
const START = Date.now() - 3_600_000;
const timeOf = (row: number): string => {
  const at = new Date(START + Math.floor(row / 1_000)).toISOString();
  return `${at.slice(0, -1)}${String(row % 1_000).padStart(3, "0")}Z`;
};

beforeAll(async () => {
  const { system } = opened;
  const runners = new LayerRunners();
  const parserOf = createParserOf((error) => expect.unreachable(String(error)));
  const past = new Past(system);
  await adoptFound(system, "root");
  for (let n = 0; n < ACCOUNTS; n++) {
    await past.store(n === 0 ? 2 : 0, { account: `account-${n}` }, textOfEvent());
  }
  const { pool, sealer, featureSealer } = system;
  while (await extractNext({ pool, sealer, featureSealer, runners, parserOf, onError: () => {} }));
  await past.close();
  await runners.close();
});

/** A label file in pieces of about 100 kB. */
function* piecesOf(rows: number, lineOf: (row: number) => string): Generator<Buffer> {
  let piece = "account,label_time,label\n";
  for (let row = 0; row < rows; row++) {
    piece += `${lineOf(row)}\n`;
    if (piece.length < 100_000) continue;
    yield Buffer.from(piece);
    piece = "";
  }
  yield Buffer.from(piece);
}

const labelOf = (row: number): string =>
  `account-${row % 1_000 === 0 ? 0 : 1 + (row % (ACCOUNTS - 1))},${timeOf(row)},good`;

const exportArguments = (labels: string, out: string): readonly string[] => [
  ..."export run --features root@1 --purpose default --clock received --format csv --expires 2999-01-31".split(" "),
  ..."--recipient team --reason training".split(" "),
  "--labels",
  path(labels),
  "--out",
  path(out),
];

describe("a label file with very many rows", () => {
  it(
    "is exported in order, and the memory of the process does not grow while it writes",
    async () => {
      await pipeline(Readable.from(piecesOf(ROWS, labelOf)), createWriteStream(path("labels.csv")));
      const child = spawnDrs(opened.environment, exportArguments("labels.csv", "out.csv"));
      const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
      const samples: { readonly written: number; readonly resident: number }[] = [];
      while (child.exitCode === null) {
        samples.push({ written: sizeOf("out.csv.partial"), resident: residentOf(child.pid) });
        await sleep(20);
      }
      expect(await ended).toBe(0);
      const whole = sizeOf("out.csv");
      const most = (of: readonly { readonly resident: number }[]): number => Math.max(...of.map((one) => one.resident));
      const writing = samples.filter(({ written }) => written > whole / 10);
      const [first, second] = [
        writing.filter(({ written }) => written < whole / 2),
        writing.filter(({ written }) => written >= whole / 2),
      ];
      expect(most(samples)).toBeLessThan(300 * MEBIBYTE + BYTES_A_ROW * ROWS);
      if (ROWS >= FULL_ROWS) expect(most(second), "it does not grow").toBeLessThan(most(first) + 50 * MEBIBYTE);
      let [rows, observed, ordered] = [0, 0, true];
      let rest = "";
      for await (const chunk of createReadStream(path("out.csv"), "utf8")) {
        const lines = (rest + String(chunk)).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          if (rows > 0) ordered &&= line.startsWith(`${rows},${timeOf(rows - 1)},good,`);
          if (line.includes(",true,observed")) observed++;
          rows++;
        }
      }
      expect({ rows, observed, ordered }).toEqual({ rows: ROWS + 1, observed: Math.ceil(ROWS / 1_000), ordered: true });
    },
    TIMEOUT_MS,
  );

  it("fails, and its process continues, where values that were read ahead can't be opened", async () => {
    const { system } = opened;
    const source = { format: "csv", open: () => Readable.from(piecesOf(5_000, labelOf)) } as const;
    let received = 0;
    const featureSealer: typeof system.featureSealer = {
      ...system.featureSealer,
      async openMany(rows) {
        if (received === 0) return system.featureSealer.openMany(rows);
        throw new Error("the key store is away");
      },
    };
    const ports = { ...system, executor: system.pool, featureSealer, onProgress: () => {} };
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on("unhandledRejection", note);
    onTestFinished(() => void process.off("unhandledRejection", note));
    const labels = await prepareExport(ports, ORDER, source);
    const parts = await beginExport(ports, ORDER, source, labels, { actor: "A. Analyst", via: "direct" });
    const receiveAll = async (): Promise<void> => {
      for await (const _ of parts) {
        received++;
        await sleep(20);
      }
    };
    await expect(receiveAll()).rejects.toThrow("the key store is away");
    expect(unhandled).toEqual([]);
  });

  it("shows in a terminal how many labels were checked and written, where the next text replaces it", async () => {
    const few = 3_000;
    await pipeline(Readable.from(piecesOf(few, labelOf)), createWriteStream(path("few.csv")));
    let terminalText = "";
    const terminal = new Writable({
      write(chunk: Buffer, _, written) {
        terminalText += chunk.toString();
        written();
      },
    });
    const context = { ...contextWith(opened.environment, new Writable({ write: ignore }), terminal), isTerminal: true };
    const command = withBreakGlass(opened.environment, exportArguments("few.csv", "few-out.csv"));
    expect(await runProgram(context, command)).toBe(0);
    const steps = [1_000, 2_000, 3_000].flatMap((labels) => [`${labels} labels checked`, `${labels} labels written`]);
    for (const step of steps) expect(terminalText).toContain(`\r\u001b[K${step}\r`);
  });

  it(
    "is rejected as a whole if rows are wrong, with few of the problems and little memory",
    async () => {
      const wrong: readonly ((row: number) => string)[] = [
        (row) => `account-1,${timeOf(row)},=cmd()`,
        () => "account-1,2999-01-31,good",
        () => "account-1,2020-01-31,good",
        (row) => `unknown-${row},${timeOf(row)},good`,
        (row) => `account-1,${timeOf(row)}`,
      ];
      const lineOf = (row: number): string => (wrong[row % wrong.length] ?? labelOf)(row);
      const source = { format: "csv", open: () => Readable.from(piecesOf(ROWS, lineOf)) } as const;
      const before = process.memoryUsage.rss();
      let most = before;
      const checked = await checkLabels(source, Date.now(), opened.system.pool, () => {
        most = Math.max(most, process.memoryUsage.rss());
      });
      // Several labels are about one subject and time. Only the first of them is accepted.
      expect(checked).toMatchObject({ rows: ROWS, problemCount: ROWS - 1 });
      expect(checked.problems).toHaveLength(20);
      expect(checked.problems.slice(0, 4)).toEqual([
        "line 2: label is a formula",
        "line 3: label_time is in the future",
        "line 6: the row has 2 cells, the header 3",
        "line 7: label is a formula",
      ]);
      expect(most - before).toBeLessThan(200 * MEBIBYTE + BYTES_A_ROW * ROWS);
    },
    TIMEOUT_MS,
  );
});

const ignore = (_: unknown, __: string, done: () => void): void => done();

const sizeOf = (name: string): number => statSync(path(name), { throwIfNoEntry: false })?.size ?? 0;

/** Resident memory of a process in bytes; 0 after its end. */
function residentOf(pid: number | undefined): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) * 1_024;
  } catch {
    return 0;
  }
}
