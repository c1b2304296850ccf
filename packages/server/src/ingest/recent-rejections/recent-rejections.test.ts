/** The latest rejected requests: what is kept of them, how many, for how long, and what a stolen login can do. */
import { reject, type ViolationCode, VIOLATIONS, pointerOf } from "@device-risk-signals/contract";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import type { KeyEpoch, RejectedRequestDetail } from "../../base/ports.ts";
import { runRetention } from "../../lifecycle/retention-worker.ts";
import { erasurePorts } from "../../runtime/lifecycle-ports.ts";
import { inOwnerTransaction } from "../../store/postgres/database.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { deleteRecentRejections, listRecentRejections } from "./recent-rejection-table.ts";
import { BufferedRecentRejections } from "./recent-rejections.ts";

const DAY_MS = 86_400_000;
const opened = useTestSystem();
const logs: { close(): Promise<void> }[] = [];
let now = 0;

beforeEach(() => opened.owner.query("truncate recent_rejection"));
afterEach(async () => {
  await Promise.all(logs.splice(0).map((log) => log.close()));
});

interface LogOptions {
  readonly executor?: Executor;
  readonly epoch?: () => KeyEpoch;
}

function openLog({ executor = opened.system.pool, epoch = () => ({ erasure: 0, loss: 0 }) }: LogOptions = {}) {
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const log = new BufferedRecentRejections({ executor, monotonic: { now: () => now }, keyEpoch: epoch, onError });
  logs.push(log);
  return { log, errors };
}

const MISSING = {
  code: "request-invalid" as const,
  errors: [{ code: "member-missing" as const, pointer: "/platform", detail: "SECRET" }],
};

const rejected = (changes: Partial<RejectedRequestDetail> = {}): RejectedRequestDetail => ({
  rejection: MISSING,
  cause: undefined,
  sdkVersion: "1.2.3",
  account: "customer-1",
  peer: "192.0.2.1",
  ...changes,
});
const stranger = (peer: string): RejectedRequestDetail =>
  rejected({ rejection: reject("credentials-missing"), sdkVersion: undefined, account: undefined, peer });

const kept = (account?: string) => listRecentRejections(opened.system.pool, { account }, { limit: 20_000 });

describe("the latest rejected requests", () => {
  it("have their time, problem, cause, rules, SDK version and account, newest first", async () => {
    const { log, errors } = openLog();
    log.add(rejected());
    now += 5_000;
    log.add(rejected({ rejection: reject("action-refused", undefined, "/action_id"), cause: "other-type" }));
    log.add(stranger("192.0.2.1"));
    await log.flush();
    expect(errors).toEqual([]);
    const rows = await kept();
    const common = { account: "customer-1", sdk_version: "1.2.3", cause: null, more: false };
    expect(rows).toMatchObject([
      { ...common, account: null, sdk_version: null, problem: "credentials-missing", violations: [""], places: [""] },
      { ...common, problem: "action-refused", cause: "other-type", violations: [""], places: ["/action_id"] },
      { ...common, problem: "request-invalid", violations: ["member-missing"], places: ["/platform"] },
    ]);
    const [newest, , oldest] = rows.map(({ at }) => Date.parse(at));
    expect((newest ?? 0) - (oldest ?? 0)).toBe(5_000);
  });

  it("have five rules at most, and say that there were more", async () => {
    const { log } = openLog();
    const names = ["action_id", "action_type", "sdk_version", "platform", "app_version", "observations"];
    const errors = names.map((name) => ({ code: "member-missing" as const, pointer: `/${name}`, detail: "" }));
    log.add(rejected({ rejection: { code: "request-invalid", errors } }));
    log.add(rejected({ rejection: { code: "request-invalid", errors: errors.slice(1) } }));
    await log.flush();
    const rows = await kept();
    expect(rows.map(({ places, more }) => [places.length, more])).toEqual([
      [5, false],
      [5, true],
    ]);
  });

  it("hold no text that a client chose", async () => {
    const { log, errors } = openLog();
    const text = fc.oneof(
      fc.string({ unit: "binary" }).map((said) => `SECRET${said}`),
      fc.constantFrom("\u202E<script>", "=cmd|'/c calc'!A0", "__proto__", "observations", "probes", "fonts"),
    );
    const code = fc.constantFrom(...(Object.keys(VIOLATIONS) as ViolationCode[]));
    const broken = fc.array(fc.tuple(code, fc.array(text, { maxLength: 6 })), { minLength: 1, maxLength: 8 });
    const [entries] = fc.sample(fc.array(fc.tuple(broken, text), { minLength: 200, maxLength: 200 }), 1);
    for (const [index, [rules, sdkVersion]] of (entries ?? []).entries()) {
      const rejection = {
        code: "request-invalid" as const,
        errors: rules.map(([violation, path]) => ({ code: violation, pointer: pointerOf(path), detail: "SECRET" })),
      };
      log.add(rejected({ rejection, sdkVersion, account: `customer-${index}` }));
    }
    await log.flush();
    expect(errors).toEqual([]);
    const rows = await kept();
    expect(rows).toHaveLength(200);
    for (const { places, sdk_version } of rows) {
      expect(places.join(" ")).toMatch(/^((\/(observations|probes|fonts|\*))* ?)*$/);
      expect(sdk_version).toBe("other");
    }
  });

  it("are the last 20 of an account, over all servers", async () => {
    const [one, other] = [openLog().log, openLog().log];
    for (let second = 0; second < 5; second++) {
      now += 1_000;
      for (const log of [one, other]) {
        for (let count = 0; count < 8; count++) log.add(rejected({ sdkVersion: `1.0.${second}` }));
        await log.flush();
      }
    }
    one.add(rejected({ account: "customer-2", sdkVersion: "1.0.0" }));
    await one.flush();
    const rows = await kept("customer-1");
    expect(rows.map(({ sdk_version }) => sdk_version)).toEqual([
      ...Array<string>(16).fill("1.0.4"),
      ...Array<string>(4).fill("1.0.3"),
    ]);
    expect(await kept("customer-2")).toHaveLength(1);
  });

  it("without an account are 20 a day of a source address, whose /64 counts as one", async () => {
    const { log } = openLog();
    for (let count = 0; count < 100; count++) log.add(stranger(`2001:db8::${count.toString(16)}`));
    log.add(stranger("192.0.2.7"));
    await log.flush();
    expect(await kept()).toHaveLength(21);
    now += DAY_MS - 1;
    log.add(stranger("2001:db8::1"));
    await log.flush();
    expect(await kept()).toHaveLength(21);
    now += 1;
    for (let count = 0; count < 100; count++) log.add(stranger("2001:db8::1"));
    await log.flush();
    expect(await kept()).toHaveLength(41);
  });

  it("are deleted after a day, and before the deletion no list has them", async () => {
    const { log } = openLog();
    log.add(rejected());
    await log.flush();
    await opened.owner.query("update recent_rejection set at = at - interval '1 day'");
    log.add(rejected({ account: "customer-2" }));
    await log.flush();
    expect((await kept()).map(({ account }) => account)).toEqual(["customer-2"]);
    const { system } = opened;
    await runRetention({ database: system.database, ...erasurePorts(system), actor: "test" });
    const { rows } = await opened.owner.query<{ account: string }>("select account from recent_rejection");
    expect(rows).toEqual([{ account: "customer-2" }]);
  });

  it("are deleted without waiting for a transaction that has one of them", async () => {
    const { log } = openLog();
    for (const account of ["customer-1", "customer-2"]) log.add(rejected({ account }));
    await log.flush();
    await opened.owner.query("update recent_rejection set at = at - interval '2 days'");
    await opened.owner.query("begin; select 1 from recent_rejection where account = 'customer-1' for update");
    try {
      await inOwnerTransaction(opened.system.administration, async (owner) => {
        await owner.query("set local lock_timeout = '1s'");
        await owner.query("select delete_old_rejections('1 day', 1000)");
      });
    } finally {
      await opened.owner.query("rollback");
    }
    const { rows } = await opened.owner.query("select account from recent_rejection");
    expect(rows).toEqual([{ account: "customer-1" }]);
  });
});

describe("a flood of rejections", () => {
  it("takes a limited memory while the database is away, and the last ones are written afterwards", async () => {
    const state = { away: true };
    const query: Executor["query"] = (text, values) =>
      state.away ? Promise.reject(new Error("away")) : (opened.system.pool as Executor).query(text, values);
    const { log, errors } = openLog({ executor: { query } });
    for (let count = 0; count < 2_000; count++) log.add(rejected({ account: `customer-${count}` }));
    await log.flush();
    expect(errors).toHaveLength(1);
    state.away = false;
    await log.flush();
    const rows = await kept();
    expect(rows).toHaveLength(500);
    expect(rows[0]?.account).toBe("customer-1999");
  });

  it("leaves 10,000 rows, of which 2,000 have no account", async () => {
    const { log } = openLog();
    const flood = async (from: number, to: number, of: (count: number) => RejectedRequestDetail): Promise<void> => {
      for (let count = from; count < to; count++) {
        log.add(of(count));
        if (count % 500 === 499) await log.flush();
      }
    };
    await flood(0, 3_000, (count) => stranger(`192.0.${count >> 8}.${count & 255}`));
    expect(await kept()).toHaveLength(2_000);
    await flood(0, 8_500, (count) => rejected({ account: `customer-${count}` }));
    const rows = await kept();
    expect(rows).toHaveLength(10_000);
    expect(rows.filter(({ account }) => account === null)).toHaveLength(1_500);
  });
});

describe("an erasure", () => {
  it("deletes the rows of its account", async () => {
    const { log } = openLog();
    for (const account of ["customer-1", "customer-2"]) log.add(rejected({ account }));
    await log.flush();
    await inOwnerTransaction(opened.system.administration, (owner) => deleteRecentRejections(owner, "customer-1"));
    expect((await kept()).map(({ account }) => account)).toEqual(["customer-2"]);
  });

  it("is not followed by what a server has rejected before it, and not yet written", async () => {
    let epoch = { erasure: 0, loss: 0 };
    const { log } = openLog({ epoch: () => epoch });
    log.add(rejected({ account: "before" }));
    log.add(stranger("192.0.2.9"));
    await opened.owner.query(
      `insert into journal_entry (sequence, kind, entry_digest) values (1, 'account', '');
        insert into erasure (sequence, erasure_id, kind, began_at, actor, reason, keys)
          values (1, gen_random_uuid(), 'account', transaction_time(), 'test', 'test', '{}')`,
    );
    epoch = { erasure: 1, loss: 0 };
    log.add(rejected({ account: "after" }));
    await log.flush();
    expect((await kept()).map(({ account }) => account)).toEqual(["after", null]);
    await opened.owner.query("delete from erasure; delete from journal_entry");
  });
});

describe("a stolen login of ingestion", () => {
  const asIngest = async (text: string, values: readonly unknown[] = []): Promise<unknown> => {
    await opened.owner.query("begin; set local role drs_ingest");
    try {
      return await opened.owner.query(text, [...values]);
    } finally {
      await opened.owner.query("rollback");
    }
  };
  const record = (row: object) => asIngest("select record_recent_rejections($1)", [JSON.stringify([row])]);
  const ROW = { age_ms: 0, known_erasure: 0, problem: "request-invalid", violations: [], places: [], more: false };

  it("adds rows, and reads, changes and deletes none", async () => {
    await record(ROW);
    for (const statement of [
      "select 1 from recent_rejection",
      "delete from recent_rejection",
      "update recent_rejection set account = 'a'",
      "truncate recent_rejection",
      "insert into recent_rejection (at, problem, violations, places, more) values (now(), 'p', '{}', '{}', false)",
      "select delete_old_rejections('0 s', 1000)",
    ]) {
      await expect(asIngest(statement), statement).rejects.toThrow(/permission denied/);
    }
  });

  it("gives no row a time in the future, or a text that is no code and no place", async () => {
    await expect(record({ ...ROW, age_ms: -DAY_MS })).resolves.toBeDefined();
    for (const [name, value] of [
      ["problem", "<script>"],
      ["problem", "a\nb"],
      ["cause", "$(rm)"],
      ["sdk_version", "1.0\u202E"],
      ["violations", ["`id`"]],
      ["places", ["/__proto__"]],
      ["places", ["/$(rm -rf ~)"]],
      ["places", ["/a", "/a", "/a", "/a", "/a", "/a"]],
      ["account", "a".repeat(257)],
    ] as const) {
      const lists = { violations: name === "places" ? Array(value.length).fill("") : [""], places: [""] };
      await expect(record({ ...ROW, ...lists, [name]: value }), name).rejects.toThrow(/check constraint/);
    }
    const { log } = openLog();
    log.add(rejected());
    await log.flush();
    expect(Date.parse((await kept())[0]?.at ?? "")).toBeLessThanOrEqual(opened.system.clock.now());
  });
});
