/** Tests of the counts of outcomes and rejections, and of the timeline of an idempotency key. */
import { describe, expect, test } from "vitest";
import { freshKey, send, transport } from "../support/client.ts";
import { runWithBreakGlass, objects } from "../support/command.ts";
import { post, ServerScene } from "../support/server-scene.ts";

const scene = new ServerScene();

type Row = Readonly<Record<string, unknown>>;

/** Sums the counts over all hours, because an hour may end during the test. @returns a line for each sum */
function summed(rows: readonly Row[]): string[] {
  const sums = new Map<string, number>();
  for (const { hour, occurrences, ...names } of rows) {
    expect(hour).toMatch(/^\d{4}-\d\d-\d\dT\d\d:00:00\.000Z$/);
    const name = Object.values(names as Record<string, string | null>)
      .map((text) => text ?? "-")
      .join(" ");
    sums.set(name, (sums.get(name) ?? 0) + Number(occurrences));
  }
  return [...sums].map(([name, sum]) => `${name} ${sum}`).toSorted();
}

describe("a server that has stopped", () => {
  test("has written what it counted: outcomes, rejections, retries of a key", async () => {
    const { environment, server, who } = await scene.stage();
    const drs = (...args: readonly string[]) => runWithBreakGlass(environment, ...args);
    const listed = async (...args: readonly string[]): Promise<Row[]> => {
      const { code, stdout, stderr } = await drs(...args, "--json");
      expect({ code, stderr }, args.join(" ")).toEqual({ code: 0, stderr: "" });
      return objects(stdout);
    };

    const key = freshKey();
    const body = JSON.stringify(transport(who));
    const eventId = (await post(server, who, key, body)).json["event_id"];
    expect((await post(server, who, key, body)).status).toBe(200);
    expect((await post(server, who, key, body.replace("unreadable", "x"))).status).toBe(409);
    expect((await post(server, who, key, body.replace(who.actionId, "unknown"))).status).toBe(409);
    expect((await post(server, who)).status).toBe(201);
    const wrong = body.replace('"status":"timeout"', '"status":"SECRET"').replace('"platform":"android"', '"SECRET":1');
    expect((await post(server, who, freshKey(), wrong)).status).toBe(400);
    expect((await send({ url: server.url, body })).status).toBe(401);
    expect(await server.stop()).toBe(0);

    const outcome = async (probe: string): Promise<string[]> =>
      summed(await listed("outcome", "list", "--limit", "0", "--platform", "android", "--probe", probe));
    expect(await outcome("geolocation")).toEqual(["android 1.2.3 - geolocation skipped disabled 2"]);
    expect(await outcome("gpu_benchmark")).toEqual(["android 1.2.3 - gpu_benchmark timeout - 2"]);
    expect(await outcome("fonts")).toEqual(["android 1.2.3 - fonts error other 2"]);
    expect(await outcome("os_integrity")).toEqual(["android 1.2.3 - os_integrity success - 2"]);
    expect(await outcome("runtime")).toEqual(["android 1.2.3 - runtime omitted - 2"]);

    expect(summed(await listed("rejection", "list", "--from", "2026-01-01"))).toEqual([
      "credentials-missing - - - 1",
      "idempotency-conflict - - 1.2.3 2",
      "request-invalid member-missing /platform 1.2.3 1",
      "request-invalid member-unknown /* 1.2.3 1",
      "request-invalid value-not-allowed /observations/probes/gpu_benchmark/status 1.2.3 1",
    ]);
    expect(await listed("rejection", "list", "--to", "2026-01-01")).toEqual([]);
    const { stdout } = await drs("rejection", "list", "--problem", "credentials-missing");
    expect(stdout.split("\n")[0]).toMatch(/^hour +problem +violation +place +sdk_version +occurrences$/);

    const [timeline] = await listed("event", "timeline", "--account", "who", "--idempotency-key", key);
    const { entries, ...rest } = timeline as { entries: { outcome: string; occurrences: number; events: number }[] };
    const unnamed = { entries: 0, occurrences: 0 };
    expect(rest).toEqual({ event_id: eventId, state: "stored", erased_at: null, more: false, unnamed });
    const countOf = (wanted: string): number =>
      entries.filter(({ outcome: found }) => found === wanted).reduce((sum, { occurrences }) => sum + occurrences, 0);
    expect([countOf("accepted"), countOf("replayed"), countOf("idempotency-conflict")]).toEqual([1, 1, 2]);
    expect((await drs("event", "timeline", "--account", "who", "--idempotency-key", key)).stdout).toContain(
      `Event ${String(eventId)}\n`,
    );

    const absent = await drs("event", "timeline", "--account", "who", "--idempotency-key", "unused");
    expect([absent.code, absent.stdout, absent.stderr]).toEqual([
      1,
      "",
      "No event of this account holds this idempotency key.\n",
    ]);
    const reads = (await listed("audit", "list", "--account", "who")).filter(
      ({ operation }) => operation === "event.timeline",
    );
    expect(reads.map((read) => [read["outcome"], read["event_id"]])).toEqual([
      ["not-found", null],
      ["done", eventId],
      ["done", eventId],
    ]);
  });

  test("an option with a malformed or unknown value is wrong usage", async () => {
    const environment = await scene.environment();
    for (const args of [
      ["outcome", "list", "--platform", "windows"],
      ["outcome", "list", "--probe", "unknown"],
      ["outcome", "list", "--from", "someday"],
      ["rejection", "list", "--to", "2026-02-30"],
      ["rejection", "list", "--problem", "unknown"],
    ]) {
      expect((await runWithBreakGlass(environment, ...args)).code, args.join(" ")).toBe(2);
    }
  });
});
