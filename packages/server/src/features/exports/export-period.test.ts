/** Tests of the time for which the recipient of an export may keep its values. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import type { PastEvent } from "../../../../../e2e/support/past-event.ts";
import { advanceClock } from "../../../../../e2e/support/test-clock.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import { verifyReceipt } from "../../lifecycle/receipts/receipt-signer.ts";
import { checkLabels } from "./check-labels.ts";
import { ago, ORDER, useExports } from "./exports.fixture.ts";
import { beginExport } from "./run-export.ts";

const DAY_MS = 86_400_000;

const folder = useFolder();
const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const scene = useExports(opened, folder);
const { store, extract, drs, done, labelFile, path, run, repeat, exportArguments } = scene;

/** The day on which the policy of the scene ends the period of values, and the day after it. */
async function lastDays({ receivedAt }: PastEvent): Promise<readonly [last: string, next: string]> {
  const sql = "select ($1::timestamptz + interval 'P1Y')::date::text as last";
  const { rows } = await opened.owner.query<{ last: string }>(sql, [new Date(receivedAt)]);
  const last = rows[0]?.last ?? "";
  return [last, new Date(Date.parse(last) + DAY_MS).toISOString().slice(0, 10)];
}

it("an export that would outlive the period of its oldest values is refused, and the error names the latest date", async () => {
  const old = await store("kept", true, 40);
  await store("kept", false, 1);
  await extract();
  const labels = await labelFile("kept", `kept,,,${ago(0)},good`, `kept,,,${ago(20)},good`, `kept,,,${ago(60)},good`);
  const before = await done("export", "list");
  const [last, next] = await lastDays(old);
  const late = exportArguments({ labels, out: "late.jsonl", expires: next });
  const { code, stderr } = await drs(...late);
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(`must be ${last} or`) as string });
  const { ask } = await scene.through("anna", "analyst", "privacy");
  expect(await ask(...late), "before it is approved").toEqual({ code, stdout: "", stderr });
  expect((await readdir(folder())).filter((name) => name.startsWith("late"))).toEqual([]);
  expect(await done("export", "list")).toEqual(before);
  expect(await run({ labels, out: "kept.jsonl", expires: last })).toMatchObject({ expires_on: last, empty_rows: 1 });
});

it("an export ends without a manifest if values of an older event are stored after its labels were checked", async () => {
  const old = await store("older", true, 40);
  await extract();
  const [last, expiresOn] = await lastDays(old);
  const { system } = opened;
  const ports = { ...system, executor: system.pool, onProgress: () => {} };
  const text = `account,label_time,label\nolder,${ago(0)},good\n`;
  const source = { format: "csv", open: () => Readable.from([Buffer.from(text)]) } as const;
  const checked = await checkLabels(source, Date.now(), undefined);
  const order = { ...ORDER, expiresOn };
  const parts = await beginExport(ports, order, source, checked, { actor: "A. Analyst", via: "direct" });
  await expect(Array.fromAsync(parts)).rejects.toThrow(`must be ${last} or`);
  expect(await done("export", "list", "--limit", "1")).toMatchObject([{ state: "not ended" }]);
});

it("when the period of the oldest values is over, all rows with values are recalled until that is acknowledged", async () => {
  await store("over", true, 40);
  await store("newer", true, 1);
  await extract();
  const labels = await labelFile("over", `over,,,${ago(0)},good`, `over,,,${ago(45)},good`, `newer,,,${ago(0)},good`);
  const { export_id, file } = await run({ labels, out: "over.jsonl" });
  // A year has at least 365 days, and the older event is 40 hours old.
  await advanceClock(opened.environment, 363 * DAY_MS);
  expect(await done("export", "recall", export_id)).toEqual([]);
  await advanceClock(opened.environment, 2.5 * DAY_MS);
  const listed = async () => (await done("export", "list")).find((row) => row["export_id"] === export_id);
  expect(await listed()).toMatchObject({ state: "expired", recalled_rows: 2 });
  const [recall, ...more] = await done("export", "recall", export_id);
  expect(more).toEqual([]);
  const whole = { export_id, sha256: file.sha256, erasure_id: null, erased_at: null, rows: [1, 3] };
  expect(recall).toMatchObject({ ...whole, acknowledged_at: null, period_ended_at: expect.any(String) as string });
  const { publicKey } = await opened.system.receipts();
  expect(await verifyReceipt(String(recall?.["recall"]), publicKey)).toMatchObject({ receipt: "recall", ...whole });
  expect((await drs("export", "recall", export_id)).stdout).toContain("Period over at ");
  expect(await done("export", "verify", path("over.jsonl"))).toMatchObject([{ recalled_rows: [1, 3] }]);
  expect(await repeat(export_id, labels, "again.jsonl"), "nothing was erased").toMatchObject({ rows_left_out: [] });

  await done("erase", "run", "--account", "newer", "--reason", "request 17", "--yes");
  const acknowledged = await drs("export", "acknowledge", export_id, "--reason", "a letter");
  expect(acknowledged.stdout).toBe("Acknowledged: 2 recalls.\n");
  expect(await listed()).toMatchObject({ recalled_rows: 0 });
  await done("erase", "run", "--account", "over", "--reason", "request 18", "--yes");
  expect(await listed(), "the recipient has deleted every row").toMatchObject({ recalled_rows: 0 });
});
