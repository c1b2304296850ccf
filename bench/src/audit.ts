/**
 * `npm run bench:audit`: verification of an export of the audit log. Prints seconds, CPU seconds and the peak of the
 * memory. `--entries N` (default 1,000,000).
 */
import { createReadStream } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { signCheckpoint } from "../../packages/server/src/audit/log/checkpoint.ts";
import { formatItem, parseItem } from "../../packages/server/src/audit/log/export-file.ts";
import { Lane } from "../../packages/server/src/audit/log/lane.ts";
import {
  INGEST,
  ingested,
  LOG_KEY,
  ORIGIN,
  PRIVATE_KEY,
  STARTED,
  SURFACE_KEYS,
} from "../../packages/server/src/audit/log/log.fixture.ts";
import { CompactRange, leafHash } from "../../packages/server/src/audit/log/merkle.ts";
import { type LogItem, verifyLog } from "../../packages/server/src/audit/log/verify.ts";

/** Entries that are in the log after ten seconds at 200 events per second, in batches of two. */
const PER_CHECKPOINT = 1_000;
const LANES = 4;
const MEBIBYTE = 1_048_576;

const { values: options } = parseArgs({ options: { entries: { type: "string", default: "1000000" } } });
const ENTRIES = Number(options.entries);

/** @returns the last checkpoint. */
async function writeExport(path: string): Promise<string> {
  const file = await open(path, "wx");
  const lanes = Array.from({ length: LANES }, () => new Lane(INGEST));
  const tree = new CompactRange();
  let [lines, note] = ["", ""];
  for (let index = 0; index < ENTRIES; index++) {
    const lane = lanes[index % LANES] as Lane;
    const { eventIds = [], subjects = [], ...entry } = ingested(index);
    const two = { eventIds: [...eventIds, ...eventIds], subjects: [...subjects, ...subjects] };
    const [signed] = lane.sign([{ ...entry, ...two, occurrences: 2 }]);
    lane.acknowledge();
    if (!signed) throw new Error("a lane signs each entry");
    const hash = leafHash(signed.bytes, signed.mac);
    tree.append(hash);
    lines += formatItem({ kind: "leaf", index, hash, entry: signed });
    if (tree.size % PER_CHECKPOINT === 0 || tree.size === ENTRIES) {
      note = signCheckpoint({ origin: ORIGIN, size: tree.size, root: tree.root() }, PRIVATE_KEY);
      await file.write(lines + formatItem({ kind: "checkpoint", note }));
      lines = "";
    }
  }
  await file.close();
  return note;
}

async function* itemsOf(path: string, onItem: () => void): AsyncGenerator<LogItem> {
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const item = parseItem(line);
    if (!item) throw new Error("the export has a line that is no item");
    onItem();
    yield item;
  }
}

const folder = await mkdtemp(join(tmpdir(), "drs-bench-audit-"));
try {
  const path = join(folder, "audit.ndjson");
  const last = await writeExport(path);
  globalThis.gc?.();
  let [peak, seen] = [0, 0];
  const watch = (): void => {
    if (++seen % 10_000 === 0) peak = Math.max(peak, process.memoryUsage().rss);
  };
  const started = performance.now();
  const before = process.cpuUsage();
  const given = { key: LOG_KEY, outside: [last], surfaces: SURFACE_KEYS, now: STARTED };
  const { verdict, size } = await verifyLog(itemsOf(path, watch), given);
  const { user, system } = process.cpuUsage(before);
  if (verdict !== 0 || size !== ENTRIES) throw new Error(`the verdict is ${verdict}, of ${size} entries`);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  const cpu = ((user + system) / 1e6).toFixed(1);
  process.stdout.write(
    `${size} entries: ${seconds} s, ${cpu} s of CPU, ${Math.round(peak / MEBIBYTE)} MiB at the peak\n`,
  );
} finally {
  await rm(folder, { recursive: true });
}
