/** Tests of what follows an export of feature values: its repetition and its recalls. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { advanceClock } from "../../../../../e2e/support/test-clock.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import { verifyReceipt } from "../../lifecycle/receipts/receipt-signer.ts";
import { ago, ORDER, useExports } from "./exports.fixture.ts";
import { beginExport, prepareExport } from "./run-export.ts";

const folder = useFolder();
const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const { store, extract, drs, done, path, labelFile, run, read, repeat } = useExports(opened, folder);
const DAY_MS = 86_400_000;

describe("an export", () => {
  it("is repeated with the same bytes, although more values were stored since then", async () => {
    await store("repeated", true, 1);
    await extract();
    const labels = await labelFile("repeated", `repeated,,,${ago(0)},good`);
    const { export_id, file } = await run({ labels, out: "repeated.jsonl" });
    await store("repeated", false, 0.5);
    await extract();
    expect(await repeat(export_id, labels, "again.jsonl")).toMatchObject({ same: true, sha256: file.sha256 });
    const others = await labelFile("others", `repeated,,,${ago(1)},good`);
    const wrong = await drs(
      "export",
      "repeat",
      export_id,
      "--labels",
      others,
      "--reason",
      "a check",
      "--out",
      path("x"),
    );
    expect(wrong.stderr).toContain("are not those of the export");
    await expect(readFile(path("x"))).rejects.toThrow("ENOENT");
  });

  it("is repeated without the values that it lacked, such as those of an account that was restricted then", async () => {
    await store("lifted", true, 1);
    await store("kept", true, 1);
    await extract();
    const order = ["--account", "lifted", "--article", "18", "--reason", "disputed", "--approver", "J. Doe"];
    const [restriction] = await done("restriction", "add", ...order);
    const labels = await labelFile("lifted", `lifted,,,${ago(0)},good`, `kept,,,${ago(0)},good`);
    const { export_id, file } = await run({ labels, out: "lifted.jsonl" });
    const lifting = ["--informed-on", ago(0).slice(0, 10), "--reason", "it is resolved", "--yes"];
    await done("restriction", "lift", String(restriction?.["restriction_id"]), ...lifting);
    const again = await repeat(export_id, labels, "lifted-again.jsonl");
    expect(await read("lifted-again.jsonl")).toMatchObject([
      { root__v1: null, root__v1__state: "no-row" },
      { root__v1: true, root__v1__state: "observed" },
    ]);
    expect(again).toMatchObject({ same: true, sha256: file.sha256 });
  });
});

describe("an account that is erased while an export runs", () => {
  it("has no values in the file, although the export had read them before", async () => {
    await store("raced", true, 1);
    await store("kept", true, 1);
    await extract();
    const { system } = opened;
    let erasures = 0;
    const featureSealer: typeof system.featureSealer = {
      ...system.featureSealer,
      async openMany(rows) {
        const values = await system.featureSealer.openMany(rows);
        if (erasures++ === 0) await done("erase", "run", "--account", "raced", "--reason", "request 21", "--yes");
        return values;
      },
    };
    const ports = { ...system, executor: system.pool, featureSealer, onProgress: () => {} };
    const labels = `account,label_time,label\nraced,${ago(0)},fraud\nkept,${ago(0)},good\n`;
    const source = { format: "csv", open: () => Readable.from([Buffer.from(labels)]) } as const;
    const checked = await prepareExport(ports, ORDER, source);
    const parts = await beginExport(ports, ORDER, source, checked, { actor: "A. Analyst", via: "direct" });
    let file = "";
    for await (const part of parts) if ("bytes" in part) file += String(part.bytes);
    expect(erasures).toBe(1);
    expect(file.split("\n").slice(1, 3)).toEqual([
      expect.stringMatching(/,fraud,.*no-row$/),
      expect.stringMatching(/,good,.*true,observed$/),
    ]);
  });
});

describe("an erasure after an export", () => {
  it("recalls rows by their numbers until the recall is acknowledged, and a repetition lacks the rows", async () => {
    await store("erased", true, 1);
    const keptEvent = await store("kept", true, 1);
    await extract();
    const labels = await labelFile(
      "erased",
      `erased,,,${ago(0)},fraud`,
      `kept,,,${ago(0)},good`,
      `erased,,,${ago(0.5)},fraud`,
      `erased,,,${ago(24)},fraud`,
    );
    const { export_id } = await run({ labels, out: "erased.jsonl" });
    expect(await done("export", "recall", export_id)).toEqual([]);
    await done("account", "export", "--account", "erased", "--out", path("account"), "--reason", "request 16");
    expect(await read("account/exports.ndjson"), "an access request names the recipient").toMatchObject([
      { export_id, purpose: "default", features: ["root@1"], recipient: "fraud team", rows: 2 },
    ]);
    const handedOut = [{ export_id, recipient: "fraud team", rows: 2 }];
    expect(await done("erase", "plan", "--account", "erased"), "its plan names the export").toMatchObject([
      { exports: handedOut },
    ]);
    const [erasure] = await done("erase", "run", "--account", "erased", "--reason", "request 17", "--yes");
    expect(erasure).toMatchObject({ recalls: handedOut });
    expect((await drs("erase", "plan", "--account", "erased")).stdout, "a recall is planned once").not.toContain(
      "recall",
    );
    expect(await done("export", "list", "--limit", "1")).toMatchObject([{ export_id, recalled_rows: 2 }]);

    const { publicKey } = await opened.system.receipts();
    const [got] = await done("receipt", "get", String(erasure?.["erasure_id"]));
    const receipt = await verifyReceipt(String(got?.["receipt"]), publicKey);
    const recipient = "fraud team";
    expect(receipt["recalls"], "its receipt names the open recall").toEqual([
      { export_id, recipient, rows: 2, acknowledged_at: null },
    ]);

    const [recall] = await done("export", "recall", export_id);
    expect(recall).toMatchObject({ erasure_id: erasure?.["erasure_id"], rows: [1, 3], acknowledged_at: null });
    const signed = await verifyReceipt(String(recall?.["recall"]), publicKey);
    expect(signed).toMatchObject({ receipt: "recall", export_id, recipient: "fraud team", rows: [1, 3] });
    expect(JSON.stringify(signed)).not.toContain('"erased"');

    expect(await repeat(export_id, labels, "without.jsonl")).toMatchObject({ same: false, rows_left_out: [1, 3] });
    expect((await read("without.jsonl")).map(({ row }) => row)).toEqual([2, 4]);

    expect(await drs("export", "acknowledge", export_id, "--reason", "a letter")).toMatchObject({ code: 0 });
    expect(await done("export", "list", "--limit", "1")).toMatchObject([{ recalled_rows: 0 }]);
    const again = await drs("export", "acknowledge", export_id, "--reason", "a letter");
    expect(again, "is acknowledged once").toMatchObject({ code: 1 });

    await store("erased", true, 0);
    const repeated = await done("erase", "run", "--account", "erased", "--reason", "request 17", "--yes");
    expect(repeated, "the recipient has deleted the rows").toMatchObject([{ recalls: handedOut }]);
    expect(await done("export", "list", "--limit", "1")).toMatchObject([{ recalled_rows: 0 }]);

    await done("erase", "run", "--event", keptEvent.eventId, "--reason", "request 18", "--yes");
    expect(await done("export", "recall", export_id)).toMatchObject([
      { rows: [1, 3], acknowledged_at: expect.any(String) as string },
      { rows: [1, 3], acknowledged_at: expect.any(String) as string },
      { rows: [2], acknowledged_at: null },
    ]);
  });

  it("recalls the rows even if the event and its values have expired, and a request stays open until its exports are recalled", async () => {
    await store("expired", true, 1);
    const single = await store("single", true, 1);
    await extract();
    const labels = await labelFile("expired", `expired,,,${ago(0)},fraud`, `single,,,${ago(0)},fraud`);
    const { export_id } = await run({ labels, out: "expired.jsonl" });
    // The second pass deletes the tombstone of the idempotency key.
    for (const days of [400, 40]) {
      await advanceClock(opened.environment, days * DAY_MS);
      await done("retention", "run", "--yes");
    }
    const [request] = await done("request", "add", "--account", "expired", "--kind", "erasure");
    const close = ["request", "close", String(request?.["request_id"]), "--outcome", "done", "--identity", "by mail"];
    expect((await drs(...close)).stderr).toContain("1 export has values of the account");
    const erased = await drs("erase", "run", "--account", "expired", "--reason", "request 19", "--yes");
    expect(await drs(...close)).toMatchObject({ code: 0 });
    const recalled = `1 row of the export to fraud team to recall: drs export recall ${export_id}\n`;
    expect(erased.stdout).toContain(recalled);
    const byEvent = await drs("erase", "run", "--event", single.eventId, "--reason", "request 20", "--yes");
    expect(byEvent.stdout, "nothing else is left of it").toContain(recalled);
  });
});
