/**
 * `npm run bench:recompute`: computes the starter features of the same events on several engines, and compares the
 * results with those of the present Node. `--events N` is the number of events for each Node (default 1000000),
 * `--second N` the number for QuickJS (default 10000), and `--nodes PATHS` names other Node executables, separated by
 * commas.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { parseArgs } from "node:util";
import { buildFeatures } from "../../packages/features/src/compile/build-features.ts";
import type { Bundle } from "../../packages/features/src/manifest.ts";
import { type ReadInput, readEvent } from "../../packages/features/src/readings/readings.ts";
import type { Result } from "../../packages/features/src/result.ts";
import { openRunner } from "../../packages/features/src/runner/runner.ts";
import { parseEvent } from "../../packages/server/src/features/parse-event.ts";
import { fullEvent } from "./full-event.ts";
import { print } from "./scene.ts";
import { unseenEvent } from "./unseen-event.ts";

const STARTER_FOLDER = new URL("../../packages/features/src/starter", import.meta.url).pathname;
/** Number of events in a group. The bench compares one hash over all results of a group. */
const EVENTS_PER_GROUP = 1_000;
const DAY_MS = 86_400_000;
const QUICKJS_MS = 600_000;

const { values: options } = parseArgs({
  options: {
    events: { type: "string", default: "1000000" },
    second: { type: "string", default: "10000" },
    nodes: { type: "string", default: "" },
    hashes: { type: "boolean", default: false },
  },
});
const EVENTS = Number(options.events);
const QUICKJS_EVENTS = Number(options.second);

/**
 * Makes event `index`, with the two generators in turn. The times are fixed, so that every engine gets the same events.
 */
function inputOf(index: number): ReadInput {
  const at = new Date(Date.UTC(2026, 0, 1) + (index * DAY_MS) / EVENTS);
  const event = index % 2 === 0 ? fullEvent(index, at) : unseenEvent(index, at);
  const parsed = parseEvent(index % 4 < 2 ? "android" : "ios", Buffer.from(JSON.stringify(event)));
  if (!parsed) throw new Error("an event has no probes");
  return readEvent(parsed);
}

const inputsFrom = (from: number, to: number): readonly ReadInput[] =>
  Array.from({ length: to - from }, (_, index) => inputOf(from + index));

const hashOf = (results: readonly (readonly Result[])[]): string =>
  createHash("sha256").update(JSON.stringify(results)).digest("hex");

/** Prints the hash of each group. */
async function printHashes(bundles: readonly Bundle[]): Promise<void> {
  const runner = await openRunner(bundles, { budgetMs: 1_000 });
  for (let from = 0; from < EVENTS; from += EVENTS_PER_GROUP) {
    print(hashOf((await runner.run(inputsFrom(from, Math.min(from + EVENTS_PER_GROUP, EVENTS)))).events));
  }
  await runner.close();
}

async function hashesOfNode(node: string): Promise<readonly string[]> {
  const child = spawn(node, [import.meta.filename, "--hashes", "--events", String(EVENTS)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`${node} ended with ${code}`);
  return text.trim().split("\n");
}

async function hashesOfQuickJs(bundles: readonly Bundle[]): Promise<readonly string[]> {
  const { computeInQuickJs } = await import("../../packages/features/src/check/quickjs.ts");
  const hashes: string[] = [];
  for (let from = 0; from < QUICKJS_EVENTS; from += EVENTS_PER_GROUP) {
    const inputs = inputsFrom(from, from + EVENTS_PER_GROUP);
    const cases = inputs.flatMap((read) => bundles.map((_, feature) => ({ feature, read })));
    const flat = await computeInQuickJs(bundles, cases, QUICKJS_MS);
    hashes.push(hashOf(inputs.map((_, event) => flat.slice(event * bundles.length, (event + 1) * bundles.length))));
  }
  return hashes;
}

const { features, problems } = await buildFeatures(STARTER_FOLDER);
if (problems.length > 0) throw new Error(problems.join("\n"));
const bundles = features.map(({ bundle }) => bundle);
if (options.hashes) await printHashes(bundles);
else {
  const nodes = [process.execPath, ...options.nodes.split(",").filter((path) => path !== "")];
  const hashes = await Promise.all(nodes.map(hashesOfNode));
  const [first = [], ...others] = hashes;
  const countDifferent = (groups: readonly string[]): number =>
    groups.filter((hash, group) => hash !== first[group]).length;
  print("| engine | events | groups of 1,000 events that differ |\n| --- | --- | --- |");
  for (const [index, other] of others.entries())
    print(`| ${nodes[index + 1]} | ${EVENTS} | ${countDifferent(other)} |`);
  if (QUICKJS_EVENTS > 0) print(`| QuickJS | ${QUICKJS_EVENTS} | ${countDifferent(await hashesOfQuickJs(bundles))} |`);
}
