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

/** The actors of the accesses that the export of an account lists. */
async function actorsOf(account: string): Promise<readonly string[]> {
  const { database, clock } = opened.system;
  const order = { account, export_id: randomUUID(), exported_at: new Date(clock.now()).toISOString() };
  return inSnapshot(database, async (transaction) => {
    let text = "";
    for await (const part of exportAccount({ ...opened.system, transaction, onProgress: () => {} }, order)) {
      if ("text" in part && part.file === "accesses.ndjson") text += part.text;
    }
    const lines = text.split("\n").filter(Boolean);
    return lines.map((line) => (JSON.parse(line) as { readonly actor: string }).actor);
  });
}

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
    subjects: [account.subject],
    occurrences: 1,
  };
  await insertEntries(pool, [signOutsideLane({ surface: "admin", key: createSecretKey(Buffer.alloc(32, 1)) }, forged)]);
  await checkpointNow(opened.system);
  expect(await actorsOf("customer-1")).toEqual(["ann"]);
});
