/**
 * `npm run bench:features`: measures a worker that computes 25 starter features of full events, and compares it with
 * two peers that use the same feature programs, events and PostgreSQL. Both peers remember only the id of the last
 * event that they read. The first inserts each value with a statement of its own, and the second inserts the values of
 * 500 events with one statement. `--events N` (default 20000), `--rounds N` (default 3), `--seconds N` (default 8),
 * `--erased N` events of an erased account (default 10000), `--only PARTS`: some of backfill, delay, erasure, ingestion
 * and neighbour (ingestion next to a backfill).
 */
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { measureBackfill } from "./features/backfill.ts";
import { measureErasure } from "./features/erasure.ts";
import { openFeatureScene } from "./features/feature-scene.ts";
import { measureDelay, measureIngestion, measureNeighbour } from "./features/ingestion.ts";
import { printTable } from "./features/table.ts";
import { print } from "./scene.ts";

const { values: options } = parseArgs({
  options: {
    events: { type: "string", default: "20000" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "8" },
    erased: { type: "string", default: "10000" },
    only: { type: "string", default: "backfill,delay,erasure,ingestion,neighbour" },
  },
});
const [EVENTS, ROUNDS, SECONDS] = [Number(options.events), Number(options.rounds), Number(options.seconds)];
const isWanted = (part: string): boolean => options.only.split(",").includes(part);

const scene = await openFeatureScene(EVENTS);
if (isWanted("backfill")) await measureBackfill(scene, EVENTS, ROUNDS);
if (isWanted("erasure")) await measureErasure(scene, Number(options.erased), ROUNDS);
if (isWanted("delay")) await measureDelay(scene, SECONDS);
await scene.retire(scene.names);
if (isWanted("ingestion")) await measureIngestion(scene, SECONDS, ROUNDS);
if (isWanted("neighbour")) await measureNeighbour(scene, SECONDS, ROUNDS);

print(
  `\n${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, ${EVENTS} events, medians of ${ROUNDS} rounds\n`,
);
printTable();
await scene.close();
