import { createSecretKey, randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { checkpointNow } from "../../runtime/audit-log.ts";
import { writeAudit } from "../../audit/audit.ts";
import { insertEntries } from "../../audit/entries.ts";
import { signOutsideLane } from "../../store/audit-record/lane.ts";
import { uuidv7 } from "../../base/identifiers/uuidv7.ts";
import { inSnapshot } from "../../store/postgres/database.ts";
import { exportAccount } from "./account-export.ts";

const opened = useTestSystem("test");

/** The accesses that the export of an account lists. */
async function accessesOf(account: string): Promise<readonly object[]> {
  const { database, clock } = opened.system;
  const exported_at = new Date(clock.now()).toISOString();
  const order = { account, export_id: randomUUID(), exported_at, request_id: null };
  const periods = { replayWindowMs: 1, auditRetentionMs: 1, backupMs: undefined };
  return inSnapshot(database, async (transaction) => {
    let text = "";
    for await (const part of exportAccount({ ...opened.system, transaction, periods, onProgress: () => {} }, order)) {
      if ("text" in part && part.file === "accesses.ndjson") text += part.text;
    }
    const lines = text.split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line) as object);
  });
}

test("the export of an account has the roles of who looked, not their name", async () => {
  const { pool, audit } = opened.system;
  const access = { operation: "event.read_raw", outcome: "done", account: "customer-2" } as const;
  await writeAudit(pool, audit, { ...access, actor: "cli:ann", via: "cli", roles: ["privacy", "auditor"] });
  await writeAudit(pool, audit, { ...access, actor: "cli:root (uid 0)", via: "direct" });
  const accesses = await accessesOf("customer-2");
  expect(accesses).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ via: "direct", roles: [], operation: "event.read_raw" }),
      expect.objectContaining({ via: "cli", roles: ["privacy", "auditor"] }),
    ]),
  );
  expect(JSON.stringify(accesses)).not.toMatch(/ann|root/);
});

test("the export of an account lists no access that a login of the database inserted", async () => {
  const { pool, audit, clock } = opened.system;
  const account = audit.named("customer-1");
  const access = { via: "api", operation: "event.read_raw", outcome: "done" } as const;
  await writeAudit(pool, audit, { ...access, actor: "ann", account: account.name });
  const forged = {
    ...access,
    entryId: uuidv7(clock.now()),
    at: clock.now(),
    actor: "thief",
    operation: "event.read",
    subjects: [account.subject],
    occurrences: 1,
  };
  await insertEntries(pool, [signOutsideLane({ surface: "admin", key: createSecretKey(Buffer.alloc(32, 1)) }, forged)]);
  await checkpointNow(opened.system);
  expect(await accessesOf("customer-1")).toMatchObject([{ operation: "event.read_raw" }]);
});
