/**
 * `npm run bench:console`: measures the console in Chromium and the reads behind it, next to
 * their goals, while 200 events a second arrive at a server with a million events. `--events N` (default 1000000),
 * `--fill-seconds N` (default 300), `--minutes N` of the live view (default 3), `--reads N` of each list (default 200),
 * `--folder DIR` keeps the events for a later run, `--only NAME` measures one group: bundle, sight, tail, string,
 * reads or ingestion.
 */
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { createAdminClient } from "../../packages/admin-api/src/client.ts";
import { launchChromium } from "../../tools/browser/chromium.ts";
import { measureBundle } from "./console/bundle-sizes.ts";
import { measureFirstSight } from "./console/first-sight.ts";
import { measureLongString } from "./console/long-string.ts";
import { measureTail } from "./console/tail.ts";
import { measureTailsBesideIngestion } from "./console/tails-beside-ingestion.ts";
import { openFilledServer } from "./filled-server.ts";
import { CASE_REASON, measureLists, measureOpened } from "./read-latencies.ts";
import { figureLine, HEAD, load, print, ratioLine, startLoad } from "./scene.ts";

const { values: options } = parseArgs({
  options: {
    events: { type: "string", default: "1000000" },
    "fill-seconds": { type: "string", default: "300" },
    minutes: { type: "string", default: "3" },
    reads: { type: "string", default: "200" },
    folder: { type: "string" },
    only: { type: "string" },
  },
});
const [MINUTES, READS] = [Number(options.minutes), Number(options.reads)];
const RATE = 200;
const PERSON = "bench";
const ROLES = ["operator", "analyst", "investigator"] as const;

const server = await openFilledServer({
  events: Number(options.events),
  fillSeconds: Number(options["fill-seconds"]),
  folder: options.folder,
});
const { adminUrl, owner, target } = server;
const browser = await launchChromium();
const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
const client = createAdminClient({ url: adminUrl, token: await server.adminToken(PERSON, ...ROLES) });

const printFigure = (what: string, value: number, unit: string, goal: number): void =>
  print(figureLine(what, value, unit, goal));

/** Each group of figures; those of `beside` are measured while events arrive. */
const beside: Readonly<Record<string, () => Promise<void>>> = {
  async sight() {
    const { headMs, eventsMs } = await measureFirstSight(context, adminUrl);
    printFigure(`first sight, processor slowed 4× (the last events: ${eventsMs.toFixed(0)} ms)`, headMs, "ms", 1_500);
  },
  async tail() {
    const { visibleMs, neverShown, mainThreadMs, heapMebibytes } = await measureTail(context, server, MINUTES);
    printFigure(`visible in the tail after its 201, p95 (${neverShown} of 100 never)`, visibleMs, "ms", 1_500);
    printFigure(`tail at ${RATE} events/s, main thread`, mainThreadMs, "ms a second", 100);
    printFigure(`tail at ${RATE} events/s, heap after ${MINUTES} min`, heapMebibytes, "MiB", 60);
  },
  async string() {
    const openCase = () => client.call("openCase", { ...CASE_REASON, account: target.account });
    for (const [what, { ms, longestTaskMs }] of await measureLongString(context, server, openCase)) {
      printFigure(`an event with a string of 250 KB, ${what}: shown`, ms, "ms", 200);
      printFigure(`… longest task (0: none of 50 ms)`, longestTaskMs, "ms", 50);
    }
  },
  async reads() {
    await measureLists(client, owner, READS);
    await measureOpened(client, target.account, READS);
  },
};
const isWanted = (name: string): boolean => options.only === undefined || options.only === name;

try {
  const page = await context.newPage();
  const link = await server.drs("console", "link", "--person", PERSON, "--role", ...ROLES);
  await page.goto(link.split("\n")[0] ?? "");
  await page.getByRole("navigation", { name: "Screens" }).waitFor();
  await page.close();
  await load({ ...target, seconds: 5, rate: RATE });
  print(`\n${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, Chromium ${browser.version()},`);
  print(`${server.filled} events, ${RATE} events/s arriving\n`);
  print(HEAD);
  if (isWanted("bundle")) {
    const { first, further, css } = await measureBundle();
    printFigure("JavaScript of the first load, gzip", first, "KB", 130);
    printFigure(`JavaScript of a further route, at most (${further.name}), gzip`, further.size, "KB", 35);
    printFigure("CSS, gzip", css, "KB", 15);
  }
  const arriving = await startLoad({ ...target, rate: RATE });
  for (const [name, measure] of Object.entries(beside)) if (isWanted(name)) await measure();
  const { p99Ms } = await arriving.stop();
  if (isWanted("ingestion")) {
    print(ratioLine("ingestion with ten tails ÷ without", await measureTailsBesideIngestion(client, target), 0.97));
  }
  print(`\nThe p99 of ingestion at ${RATE} events/s was ${p99Ms.toFixed(1)} ms.`);
  print("Accessibility and keyboard: npm run check:console and check:screens.");
} finally {
  await browser.close();
  await server.close();
}
