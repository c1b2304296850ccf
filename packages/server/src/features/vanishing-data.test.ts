/** Extraction and backfills whose events, values or secrets are dropped while they run. */
import { randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { objects, type Printed, runWithBreakGlass } from "../../../../e2e/support/command.ts";
import { AWAITED_LOCKS } from "../../../../e2e/support/database.ts";
import { until } from "../../../../e2e/support/embedded.ts";
import { secretFile } from "../../../../e2e/support/key-directory.ts";
import { Past, type PastEvent } from "../../../../e2e/support/past-event.ts";
import { applyPeriod } from "../../../../e2e/support/policy.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../e2e/support/use-folder.ts";
import { inOwnerTransaction } from "../store/postgres/database.ts";
import { Unavailable } from "../base/ports.ts";
import { partitionSecretName } from "../store/crypto/partition-secrets.ts";
import { accountSecretName } from "../store/crypto/sealer.ts";
import { type BackfillPorts, backfillNext } from "./backfill.ts";
import type { BackfillRow } from "./backfill-runs.ts";
import { adoptFound, DECIDER, PURPOSE, textOfEvent } from "./adopt-feature.fixture.ts";
import { recordRetirement } from "./decisions.ts";
import type { Extracted } from "./extract.ts";
import { extractNext } from "./extraction-worker.ts";
import { allFeatureRows } from "./feature-rows.ts";
import { LayerRunners } from "./layer-runners.ts";
import { listFeatures, openListed } from "./read-features.ts";
import { createParserOf } from "./read-inputs.ts";

const folder = useFolder();
const opened = useTestSystem("test", () => ({ DRS_ERASURE_JOURNAL: join(folder(), randomUUID()) }));
const runners = new LayerRunners();
const EXACT = textOfEvent();
let past: Past;

beforeEach(async () => {
  // These periods give partitions of an hour.
  await applyPeriod(opened.environment, folder(), "PT40H", "PT44H");
  past = new Past(opened.system);
});
afterEach(() => past.close());
afterAll(() => runners.close());

const store = (account: string, hoursAgo: number): Promise<PastEvent> => past.store(hoursAgo, { account }, EXACT);

const adopt = (id = "found", purpose = PURPOSE): Promise<number> => adoptFound(opened.system, id, purpose);

const ports = (more: Partial<BackfillPorts> = {}): BackfillPorts => ({
  pool: opened.system.pool,
  sealer: opened.system.sealer,
  featureSealer: opened.system.featureSealer,
  onError: () => {},
  retrySeconds: 0,
  runners,
  parserOf: createParserOf((error) => expect.unreachable(String(error))),
  ...more,
});

/** Ports that wait for `work` after the first events are opened and before their values are sealed. */
function interrupted(work: () => Promise<unknown>, more: Partial<BackfillPorts> = {}): BackfillPorts {
  const { featureSealer } = opened.system;
  let done: Promise<unknown> | undefined;
  const sealMany: typeof featureSealer.sealMany = async (rows) => {
    await (done ??= work());
    return featureSealer.sealMany(rows);
  };
  return ports({ featureSealer: { ...featureSealer, sealMany }, ...more });
}

async function drain(using = ports()): Promise<number> {
  let rows = 0;
  for (let next: Extracted | undefined; (next = (await extractNext(using)) ?? (await backfillNext(using)));)
    rows += next.rows;
  return rows;
}

const drs = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(opened.environment, ...args);
const retention = (): Promise<Printed> => drs("retention", "run", "--yes");

async function start({ id } = PURPOSE): Promise<string> {
  const order = ["--purpose", id, "--reason", "review 4711", "--json"];
  return String(objects((await drs("feature", "backfill", "start", ...order)).stdout)[0]?.["run_id"]);
}

const status = async (run: string): Promise<BackfillRow> =>
  objects<BackfillRow>((await drs("feature", "backfill", "status", run, "--json")).stdout)[0] as BackfillRow;

const count = async (table: string): Promise<number> =>
  (await opened.owner.query(`select from ${table}`)).rowCount ?? 0;

const resultsOf = async ({ account }: PastEvent): Promise<unknown> =>
  (await listFeatures(opened.system.pool, { account }, 1)).map(({ status, reason }) => [status, reason])[0];

const statusOf = async ({ eventId }: Pick<PastEvent, "eventId">): Promise<string | undefined> =>
  (await listFeatures(opened.system.pool, { eventId }, 1, { includeRestricted: false }))[0]?.status;

/** Whether a session waits for a lock. */
const isAwaited = async (): Promise<boolean> =>
  ((await opened.owner.query(`select ${AWAITED_LOCKS}`)).rowCount ?? 0) > 0;

it("an event that is due in a layer that was retired since is pending until its values are computed", async () => {
  await adopt("retired");
  const { eventId } = await store("due", 0);
  await inOwnerTransaction(opened.system.administration, (owner) =>
    recordRetirement(
      owner,
      opened.system.audit,
      { features: ["retired@1"], purpose: { code: 1, id: "default" } },
      DECIDER,
    ),
  );
  expect(await statusOf({ eventId })).toBe("pending");
  expect(await extractNext(ports())).toMatchObject({ rows: 1 });
  expect(await statusOf({ eventId })).toBe("computed");
});

it("events of a time without a partition of values keep no other events waiting, and are due until there is one", async () => {
  await adopt();
  const { featureSealer } = opened.system;
  const ahead = await store("ahead", 0);
  const other = await store("other", 0);
  let isMissing = true;
  const sealMany: typeof featureSealer.sealMany = async (rows) => {
    if (isMissing && rows.some(({ identity }) => identity.account === "ahead")) {
      throw new Unavailable("no partition may be made", { code: "partition-missing" });
    }
    return featureSealer.sealMany(rows);
  };
  const withGap = ports({ featureSealer: { ...featureSealer, sealMany } });
  expect(await extractNext(withGap)).toMatchObject({ waiting: new Set([ahead.eventId, other.eventId]) });
  await until(async () => {
    await extractNext(withGap);
    return (await statusOf(other)) === "computed";
  });
  expect(await statusOf(ahead)).toBe("pending");
  isMissing = false;
  await until(async () => (await extractNext(withGap)) !== undefined);
  expect(await statusOf(ahead)).toBe("computed");
});

describe("a purpose that lacks the secret of its values", () => {
  const SECOND = { code: 2, id: "second" };

  /** Adopts a feature for each of two purposes, and deletes the secret of the values of the second one. */
  async function loseValues(): Promise<void> {
    const definition = { title: "t", legal_basis: "l", owner: "o", raw_retention: "PT40H", derived_retention: "PT44H" };
    const purposes = [PURPOSE, SECOND].map(({ id }) => ({ id, ...definition }));
    const file = join(folder(), "two-purposes.yaml");
    await writeFile(file, JSON.stringify({ purposes, actions: {}, unmapped: "default" }));
    expect(await drs("purpose", "apply", file, "--yes")).toMatchObject({ code: 0 });
    await adopt("first");
    await adopt("second", SECOND);
    await storeFor(SECOND);
    await drain();
    const { rows } = await opened.owner.query<{ id: string }>(
      "select partition_id as id from feature_partition where purpose = $1",
      [SECOND.code],
    );
    for (const { id } of rows) await rm(secretFile(opened.environment, partitionSecretName(id)));
    forgetKeys();
  }

  const storeFor = ({ code }: typeof PURPOSE): Promise<PastEvent> =>
    past.store(0, { account: "both", purpose: code }, EXACT);

  const acceptLoss = (): Promise<Printed> => drs("key", "accept-loss", "--reason", "incident 4711", "--yes");

  it("keeps no values of other purposes waiting, and gets its values after the loss is accepted", async () => {
    await loseValues();
    const [event, waiting] = [await storeFor(PURPOSE), await storeFor(SECOND)];
    const errors: unknown[] = [];
    const using = ports({ onError: (error) => errors.push(error) });
    expect(await extractNext(using)).toMatchObject({ rows: 1, failures: 0 });
    expect([await statusOf(event), await statusOf(waiting)]).toEqual(["computed", "pending"]);
    expect(errors).toMatchObject([{ code: "secret-missing" }]);
    expect(await extractNext(using)).toMatchObject({ rows: 0, failures: 0 });
    expect(await acceptLoss()).toMatchObject({ code: 0 });
    await extractNext(using);
    expect(await statusOf(waiting)).toBe("computed");
    expect(await count("extraction_failure")).toBe(0);
  });

  it("delays only its own backfill", async () => {
    await loseValues();
    const [waiting] = [await storeFor(SECOND), await storeFor(PURPOSE)];
    await opened.owner.query("delete from extraction_due");
    const [stalled, other] = [await start(SECOND), await start()];
    const errors: unknown[] = [];
    const using = ports({ retrySeconds: 0.01, onError: (error) => errors.push(error) });
    await until(async () => {
      await backfillNext(using);
      return (await status(other)).state === "done";
    });
    expect((await status(stalled)).state).toBe("running");
    expect(errors[0]).toMatchObject({ code: "secret-missing" });
    expect(await acceptLoss()).toMatchObject({ code: 0 });
    await until(async () => {
      await backfillNext(using);
      return (await status(stalled)).state === "done";
    });
    expect(await statusOf(waiting)).toBe("computed");
  });
});

describe("extraction", () => {
  it("of an event whose partition was dropped stores nothing, and computes the other events", async () => {
    await adopt();
    const old = await store("old", 3);
    const event = await store("new", 0);
    await expireWithin("PT2H");
    expect(await count("event")).toBe(1);
    expect(await drain()).toBe(1);
    expect(await resultsOf(event)).toEqual(["computed", null]);
    expect(await resultsOf(old)).toBeUndefined();
    expect(await count("extraction_failure")).toBe(0);
    expect(await count("extraction_due")).toBe(0);
  });

  it("delays the drop of a partition while it computes events of the partition", async () => {
    await adopt();
    await store("old", 3);
    let pass: Promise<Printed> | undefined;
    const during = interrupted(async () => {
      // A new policy would begin the batch again.
      await opened.owner.query("update purpose set raw_retention = interval '2 hours'");
      pass = retention();
      await until(isAwaited);
    });
    expect(await drain(during)).toBe(1);
    expect(await pass).toMatchObject({ code: 0 });
    expect([await count("event"), await count("feature_row")]).toEqual([0, 1]);
  });

  it("of an event whose values would have expired stores nothing, and computes the other events", async () => {
    await adopt();
    const old = await store("old", 20);
    const event = await store("new", 0);
    await applyPeriod(opened.environment, folder(), "PT40H", "PT5H");
    expect(await drain()).toBe(1);
    expect(await resultsOf(event)).toEqual(["computed", null]);
    expect(await resultsOf(old)).toEqual(["excluded", "before-adoption"]);
    expect(await count("extraction_due")).toBe(0);
  });

  it("of an account that is erased in the middle of a batch stores nothing, and computes the other accounts' events", async () => {
    await adopt();
    const [erased, other] = [await store("erased", 0), await store("other", 0)];
    const order = ["--account", erased.account, "--reason", "request 17", "--yes"];
    const during = interrupted(async () => expect(await drs("erase", "run", ...order)).toMatchObject({ code: 0 }));
    await expect(drain(during)).rejects.toMatchObject({ code: "keys-destroyed" });
    expect(await drain(during)).toBe(1);
    expect([await resultsOf(erased), await resultsOf(other)]).toEqual([undefined, ["computed", null]]);
    expect([await count("extraction_failure"), await count("extraction_due")]).toEqual([0, 0]);
  });

  it("of an account that is restricted meanwhile stores nothing, and computes the other accounts' events", async () => {
    await adopt();
    const [restricted, other] = [await store("restricted", 0), await store("other", 0)];
    const order = ["--account", restricted.account, "--article", "18", "--reason", "disputed", "--approver", "J. Doe"];
    const during = interrupted(async () =>
      expect(await drs("restriction", "add", ...order)).toMatchObject({ code: 0 }),
    );
    expect(await drain(during)).toBe(1);
    const { rows } = await opened.owner.query("select event_id from feature_row");
    expect(rows).toEqual([{ event_id: other.eventId }]);
    expect([await count("extraction_failure"), await count("extraction_due")]).toEqual([0, 0]);
  });

  it("of an account whose secret is lost in the middle of a batch stores nothing, and computes the other accounts' events", async () => {
    await adopt();
    const [lost, other] = [await store("lost", 0), await store("other", 0)];
    const during = interrupted(() => loseAccount(lost));
    await expect(drain(during)).rejects.toMatchObject({ code: "keys-destroyed" });
    expect(await drain(during)).toBe(1);
    expect([await resultsOf(lost), await resultsOf(other)]).toEqual([
      ["excluded", "unreadable"],
      ["computed", null],
    ]);
    expect(await count("extraction_due")).toBe(0);
  });
});

it("a read does not report values as unreadable if they were deleted between the list and the values", async () => {
  for (const id of ["found", "again"]) await adopt(id);
  const { account } = await store("read", 0);
  await drain();
  const { pool: executor, featureSealer: sealer } = opened.system;
  const listed = await listFeatures(executor, { account }, 1);
  const [, ...rest] = await Array.fromAsync(allFeatureRows(executor, { account }));
  expect(rest).toHaveLength(1);
  expect(await openListed({ executor, sealer }, listed, rest)).toMatchObject([{ status: "computed", reason: null }]);
  expect(await openListed({ executor, sealer }, listed, [])).toEqual([]);
});

async function expireWithin(raw: string, derived = "PT44H"): Promise<void> {
  await applyPeriod(opened.environment, folder(), raw, derived);
  expect(await retention()).toMatchObject({ code: 0 });
}

async function loseAccount({ account }: PastEvent): Promise<void> {
  const { rows } = await opened.owner.query<{ key_id: string }>("select key_id from account_key where account = $1", [
    account,
  ]);
  await rm(secretFile(opened.environment, accountSecretName(rows[0]?.key_id ?? "")));
  forgetKeys();
}

/** Forgets secrets as a server does every second. */
function forgetKeys(): void {
  opened.system.accountKeys.clear();
  opened.system.featureSealer.forgetKeys();
}

async function losePartition({ receivedAt }: PastEvent): Promise<void> {
  const { rows } = await opened.owner.query<{ id: string }>(
    "select partition_id as id from event_partition where lower_bound <= $1 and $1 < upper_bound",
    [new Date(receivedAt).toISOString()],
  );
  await rm(secretFile(opened.environment, partitionSecretName(rows[0]?.id ?? "")));
  forgetKeys();
}

describe("a backfill", () => {
  it("of events whose partition is dropped between two pieces continues, and its balance counts them", async () => {
    for (const hoursAgo of [6, 6, 4, 4, 0]) await store("backfilled", hoursAgo);
    await adopt();
    const run = await start();
    for (let split = 0; split < 3; split++) await backfillNext(ports());
    expect(await backfillNext(ports())).toMatchObject({ rows: 2 });
    await expireWithin("PT3H");
    expect(await drain()).toBe(1);
    expect(await status(run)).toMatchObject({ state: "done", events: 5, balance: { live: 1, stored: 1, deleted: 4 } });
    expect(await count("feature_row"), "values outlive their events").toBe(3);
  });

  it("leaves out events whose secret is lost between two pieces, and its balance counts them", async () => {
    const [, lost] = [await store("a", 6), await store("b", 4), await store("b", 4), await store("c", 0)];
    await adopt();
    const run = await start();
    const during = interrupted(() => losePartition(lost));
    expect(await drain(during)).toBe(2);
    const balance = { live: 4, stored: 2, unreadable: 2, missing: 0, deleted: 0 };
    expect(await status(run)).toMatchObject({ state: "done", events: 4, balance });
  });

  it.each([
    ["which the worker still knows", "23514"],
    ["which the worker looks up", "partition-missing"],
  ])("gives up events of a dropped partition of values, %s, and no others", async (_, code) => {
    await adopt();
    for (const hoursAgo of [30, 30, 0]) await store("dropped", hoursAgo);
    await drain();
    await expireWithin("PT40H", "PT25H");
    await applyPeriod(opened.environment, folder(), "PT40H", "PT44H");
    await store("dropped", 0);
    await opened.owner.query("delete from extraction_due");
    const run = await start();
    const { featureSealer } = opened.system;
    const sealMany: typeof featureSealer.sealMany = async (rows) => {
      // The answer of the database to a worker that does not know the partition.
      if (
        code === "partition-missing" &&
        rows.some(({ identity }) => identity.receivedAt < Date.now() - 25 * 3_600_000)
      )
        throw new Unavailable("what was received then has expired", { code: "partition-missing" });
      return featureSealer.sealMany(rows);
    };
    const using = ports({ featureSealer: { ...featureSealer, sealMany } });
    await until(async () => {
      await backfillNext(using).catch((error: unknown) => expect(error).toMatchObject({ code }));
      return (await status(run)).state === "done";
    });
    expect(await status(run)).toMatchObject({ balance: { live: 4, stored: 2, failed: 2, missing: 0 } });
  });

  it("leaves out events whose values would have expired, and its balance counts them", async () => {
    for (const hoursAgo of [20, 20, 0]) await store("derived", hoursAgo);
    await adopt();
    const run = await start();
    await expireWithin("PT40H", "PT5H");
    expect(await drain()).toBe(1);
    expect(await status(run)).toMatchObject({ state: "done", balance: { live: 3, stored: 1, expired: 2, missing: 0 } });
  });
});
