/**
 * `npm run bench:admin`: measures latencies of the admin API during ingestion, on a database with a million events.
 * Prints a line for each figure as soon as it is measured. `--events N` (default 1000000), `--rate N` requests a second
 * of ingestion (default 200), `--reads N` requests of each kind (default 200). Filling the database ends after
 * `--fill-seconds N` (default 180), even if it has fewer events. `--folder DIR` keeps the events, and a later run
 * continues with them.
 */
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { createAdminClient } from "../../packages/admin-api/src/client.ts";
import { openFilledServer } from "./filled-server.ts";
import { measureLists, measureOpened } from "./read-latencies.ts";
import { HEAD, load, print, startLoad } from "./scene.ts";

const { values: options } = parseArgs({
  options: {
    events: { type: "string", default: "1000000" },
    rate: { type: "string", default: "200" },
    reads: { type: "string", default: "200" },
    "fill-seconds": { type: "string", default: "180" },
    folder: { type: "string" },
  },
});
const [EVENTS, RATE, READS] = [Number(options.events), Number(options.rate), Number(options.reads)];

const server = await openFilledServer({
  events: EVENTS,
  fillSeconds: Number(options["fill-seconds"]),
  folder: options.folder,
});
try {
  const token = await server.adminToken("bench", "analyst", "investigator");
  const client = createAdminClient({ url: server.adminUrl, token });
  await load({ ...server.target, seconds: 5, rate: RATE });
  print(
    `\n${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, ${server.filled} events, ${READS} reads of each\n`,
  );
  print(HEAD);
  const arriving = await startLoad({ ...server.target, rate: RATE });
  await measureLists(client, server.owner, READS);
  await measureOpened(client, server.target.account, READS);
  const { p99Ms } = await arriving.stop();
  print(`\n${RATE} requests/s of ingestion at the same time, whose p99 is ${p99Ms.toFixed(1)} ms`);
} finally {
  await server.close();
}
