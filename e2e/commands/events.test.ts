/** Tests of `drs event`: lists of events, and single events. */
import { Agent } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import { authorized, send, transport } from "../support/client.ts";
import { CommandScene, PRINTED_TIME } from "../support/command-scene.ts";
import type { Credentials } from "../support/server.ts";

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

const scene = new CommandScene();
const { drs, listed, object, store } = scene;

describe("drs event", () => {
  interface Stored {
    readonly event_id: string;
    readonly account: string;
    readonly action_id: string;
    readonly action_type: string;
    readonly sdk_version: string;
    readonly platform?: string;
  }
  /** More events than one query of a long listing fetches. */
  const MANY = 1_100;
  const stored: Stored[] = [];

  beforeAll(async () => {
    const login = await object("action", "register", "--account", "lists", "--type", "login", "--id", "shared");
    await object("action", "register", "--account", "lists", "--type", "payment", "--id", "pay");
    await object("action", "register", "--account", "lists-2", "--type", "login", "--id", "shared");
    expect(login).toMatchObject({ action_id: "shared" });
    const tokens = await Promise.all(
      ["lists", "lists-2"].map(async (account) => {
        return (await object("token", "issue", "--account", account))["token"] as string;
      }),
    );
    const kinds = [
      { account: "lists", token: tokens[0], action_id: "shared", action_type: "login", sdk_version: "1.0.0" },
      { account: "lists", token: tokens[0], action_id: "pay", action_type: "payment", sdk_version: "1.0.0" },
      { account: "lists", token: tokens[0], action_id: "pay", action_type: "payment", sdk_version: "2.0.0" },
      {
        account: "lists-2",
        token: tokens[1],
        action_id: "shared",
        action_type: "login",
        sdk_version: "2.0.0",
        platform: "ios",
      },
    ];
    const agent = new Agent({ keepAlive: true, maxSockets: 32 });
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < MANY) {
        const { account, token, ...attributes } = kinds[next++ < 1_050 ? 0 : next % 4] as (typeof kinds)[number];
        const who = { ...scene.one, account, token, sessionId: "s" } as Credentials;
        stored.push({ event_id: await store(who, attributes, agent), account, ...attributes });
      }
    };
    await Promise.all(Array.from({ length: 32 }, work));
    agent.destroy();
    stored.sort((a, b) => (a.event_id < b.event_id ? 1 : -1));
  });

  const ids = (rows: readonly (Stored | Record<string, unknown>)[]): unknown[] =>
    rows.map((row) => row["event_id" as never]);
  const those = (fits: (event: Stored) => boolean): unknown[] => ids(stored.filter(fits));

  const isOfIos = ({ platform }: Stored): boolean => platform === "ios";

  test.each<[string, string[], (event: Stored) => boolean]>([
    ["by account", ["--account", "lists-2"], ({ account }) => account === "lists-2"],
    ["by account, past one page", ["--account", "lists"], ({ account }) => account === "lists"],
    ["by action", ["--action", "shared"], ({ action_id }) => action_id === "shared"],
    ["by action type", ["--action-type", "login"], ({ action_type }) => action_type === "login"],
    ["by SDK version", ["--sdk-version", "2.0.0"], ({ sdk_version }) => sdk_version === "2.0.0"],
    [
      "by all of them",
      ["--account", "lists", "--action", "pay", "--action-type", "payment", "--sdk-version", "2.0.0"],
      ({ account, sdk_version }) => account === "lists" && sdk_version === "2.0.0",
    ],
    ["by platform", ["--platform", "ios"], isOfIos],
    ["by session", ["--account", "lists-2", "--session", "s"], ({ account }) => account === "lists-2"],
    ["by purpose, since yesterday", ["--purpose", "default", "--from", "yesterday", "--platform", "ios"], isOfIos],
    ["before yesterday, none", ["--account", "lists", "--purpose", "default", "--to", "yesterday"], () => false],
    ["by an account without events", ["--account", "unknown"], () => false],
  ])("lists all events, newest first, %s", async (_, filter, fits) => {
    expect(ids(await listed("event", "list", ...filter, "--limit", "0"))).toEqual(those(fits));
  });

  test("lists by idempotency key and time, and records the filter", async () => {
    const [newest, ...others] = await listed("event", "list", "--account", "lists-2", "--limit", "20");
    const { received_at: at, idempotency_key: key } = newest as Record<string, string>;
    const of = ["--account", "lists-2", "--idempotency-key", key ?? ""];
    expect(await listed("event", "list", ...of)).toEqual([newest]);
    expect(await listed("event", "list", ...of, "--to", at ?? "")).toEqual([]);
    const [entry] = await listed("audit", "list", "--account", "lists-2", "--operation", "event.list", "--limit", "1");
    expect(entry?.["detail"]).toMatchObject({ filter: { idempotency_key: key, to: at }, count: 0 });
    // Several events may have the same millisecond.
    const earlier = others.find(({ received_at }) => String(received_at) < String(at));
    expect(await listed("event", "list", "--account", "lists-2", "--to", at ?? "", "--limit", "1")).toEqual([earlier]);
    const alone = await drs("event", "list", "--idempotency-key", key ?? "");
    expect(alone).toMatchObject({ code: 2, stderr: expect.stringContaining("--idempotency-key need --account") });
  });

  test("lists the newest 50 events if no limit is given", async () => {
    const mine = those(({ account }) => account === "lists");
    expect(ids(await listed("event", "list", "--account", "lists"))).toEqual(mine.slice(0, 50));
    const { stdout } = await drs("event", "list", "--account", "lists");
    expect(stdout.trimEnd().split("\n")).toHaveLength(51);
  });

  test.each([
    ["--account", "lists"],
    ["--action-type", "login"],
  ])("prints pages of %s %s, without a gap or a repetition, while others are stored", async (...filter) => {
    const fits = (event: Stored): boolean =>
      filter[0] === "--account" ? event.account === filter[1] : event.action_type === filter[1];
    const collected: unknown[] = [];
    const later: string[] = [];
    for (let after: string[] = []; ;) {
      const page = ids(await listed("event", "list", ...filter, "--limit", "300", ...after));
      collected.push(...page);
      if (page.length < 300) break;
      after = ["--after", page.at(-1) as string];
      later.push(await store({ ...scene.two }, {}));
    }
    expect(later.length).toBeGreaterThan(2);
    expect(collected).toEqual(those(fits));
    const last = collected.at(-1) as string;
    expect(await listed("event", "list", ...filter, "--after", last)).toEqual([]);
  });

  test("continues a list even after an id that does not exist", async () => {
    const mine = those(({ account }) => account === "lists-2");
    const list = (after: string): Promise<unknown[]> =>
      listed("event", "list", "--account", "lists-2", "--after", after).then(ids);
    expect(await list("ffffffff-ffff-7fff-bfff-ffffffffffff")).toEqual(mine);
    expect(await list("00000000-0000-7000-8000-000000000000")).toEqual([]);
  });

  test("prints an event's promoted attributes, as JSON and for people, and no observation", async () => {
    const collectedAt = new Date(Date.now() - 5_000);
    const request = transport(scene.one, collectedAt);
    const headers = authorized(scene.one, "the key of events.test");
    expect(
      (await send({ url: scene.server.url, headers: { ...headers, "Idempotency-Key": "key-1" }, body: "" })).status,
    ).toBe(400);
    const answer = await send({
      url: scene.server.url,
      headers: { ...headers, "Idempotency-Key": "key-1" },
      body: JSON.stringify(request),
    });
    const eventId = answer.json["event_id"] as string;
    const shown = await object("event", "get", eventId);
    expect(shown).toEqual({
      event_id: eventId,
      idempotency_key: "key-1",
      account: "one",
      action_id: scene.one.actionId,
      action_type: "payment",
      purpose: "default",
      session_id: scene.one.sessionId,
      event_type: "device_intel_collection",
      schema_version: 1,
      sdk_version: "1.2.3",
      platform: "android",
      app_version: "7.1.0",
      collected_at: collectedAt.toISOString().replace("Z", "000Z"),
      received_at: expect.stringMatching(PRINTED_TIME) as string,
      held: false,
      restricted: false,
    });
    expect(eventId).toMatch(UUID);
    const { code, stdout } = await drs("event", "get", eventId.toUpperCase());
    expect(code).toBe(0);
    for (const value of Object.values(shown)) expect(stdout).toContain(String(value));
    expect(stdout).not.toContain("sensorCount");
    const operations = (await listed("audit", "list", "--event", eventId)).map(({ operation }) => operation);
    expect(operations).toEqual(["event.read", "event.read", "event.create"]);
  });
});
