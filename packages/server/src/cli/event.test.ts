import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { objects, type Printed, runAsGiven } from "../../../../e2e/support/command.ts";

const UNTIL = "2027-01-31T08:00:00.000Z";

/** Runs `drs event list` with an admin API that gives these answers. */
async function listWith(answers: readonly object[], ...args: readonly string[]): Promise<Printed & { urls: string[] }> {
  const urls: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    response.setHeader("Content-Type", "application/json").end(JSON.stringify(answers[urls.push(url) - 1]));
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const DRS_ADMIN_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const printed = await runAsGiven({ DRS_ADMIN_URL, DRS_ADMIN_TOKEN: "t" }, "event", "list", "--json", ...args);
  return { ...printed, urls };
}

const search = ["--platform", "ios"];
const ended = { events: [{ event_id: "1" }], next: UNTIL, searched_until: UNTIL };
const last = { events: [{ event_id: "2" }], next: null, searched_until: null };

it("a search that ran out of time ends, and says how to continue it", async () => {
  const { code, stdout, stderr, urls } = await listWith([ended, last], ...search);
  expect({ code, rows: objects(stdout), requests: urls.length }).toEqual({ code: 0, rows: ended.events, requests: 1 });
  expect(stderr).toBe(
    `No index serves these filters, so the search ended after 2 seconds, at ${UNTIL}. ` +
      `Continue it with --to ${UNTIL}, or add --account, --action or --from.\n`,
  );
});

it("without a limit the search continues to its end", async () => {
  const { code, stdout, stderr, urls } = await listWith([ended, last], ...search, "--limit", "0");
  expect({ code, stderr, rows: objects(stdout) }).toEqual({
    code: 0,
    stderr: "",
    rows: [...ended.events, ...last.events],
  });
  expect(urls[1]).toContain(`after=${encodeURIComponent(UNTIL)}`);
});
