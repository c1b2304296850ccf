/** Tests of exports of raw events. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { EventExportManifest } from "@device-risk-signals/admin-api";
import { objects } from "../../../../../e2e/support/command.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import { findOpenCase } from "../../access/cases/case-table.ts";
import { DECIDER } from "../adopt-feature.fixture.ts";
import { beginEventExport } from "./export-events.ts";
import { ago, useExports, words } from "./exports.fixture.ts";

const folder = useFolder();
const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const { past, store, drs, done, path, labelFile, read, through } = useExports(opened, folder);

describe("an export of raw events", () => {
  const rawOf = (caseId: string, out: string, ...selected: readonly string[]): readonly string[] => [
    ...words(`export raw --case ${caseId} --recipient police --expires 2999-01-31 --out ${path(out)}`),
    ...selected,
  ];
  const openCase = async (...covers: readonly string[]): Promise<string> => {
    const opening = ["case", "open", ...covers, "--category", "dispute", "--reason", "dispute 4711"];
    return String((await done(...opening))[0]?.["case_id"]);
  };
  const ofAccount = ["--account", "raw"];

  it("has the exact bytes, marks held events, leaves out restricted ones, and is in the audit event by event", async () => {
    const exact = `{"n": 1.0, "text": "\u00e4\\u0000", "probes": {}}\n`;
    const events = [
      await past().store(3, { account: "raw" }, exact),
      await store("raw", true, 2, { actionType: "login" }),
    ];
    const [hold] = await done(
      "hold",
      "add",
      "--event",
      events[0]?.eventId ?? "",
      ...words("--approver J --review 2999-01-31"),
      "--reason",
      "dispute 4711",
    );
    await store("hidden", true, 1);
    await done(
      "restriction",
      "add",
      "--account",
      "hidden",
      ...words("--article 18 --approver J"),
      "--reason",
      "disputed 17",
    );
    const of = await openCase(...ofAccount);
    const [manifest] = await done(...rawOf(of, "raw.ndjson", ...ofAccount));
    expect(manifest).toMatchObject({ kind: "events", case_id: of, file: { rows: 2 }, held: 1, unreadable: 0 });
    const lines = await read("raw.ndjson");
    expect(lines).toMatchObject([
      { row: 1, event_id: events[1]?.eventId, purpose: "default", held: false },
      { row: 2, event_id: events[0]?.eventId, held: true, bytes: Buffer.byteLength(exact) },
    ]);
    const bytes = lines.map((line) => Buffer.from(String(line["exact_base64"]), "base64").toString());
    expect(bytes).toEqual([events[1]?.exact, events[0]?.exact]);
    const { rows } = await opened.owner.query(
      `select operation, case_id::text, event_ids::text[] from audit_entry
        where operation in ('export.raw', 'event.export') order by at, entry_id`,
    );
    const ids = lines.map(({ event_id }) => event_id);
    expect(rows).toEqual([
      { operation: "export.raw", case_id: of, event_ids: null },
      { operation: "event.export", case_id: of, event_ids: ids },
    ]);
    expect(await done("export", "verify", path("raw.ndjson"))).toMatchObject([{ same: true }]);
    expect(await done("case", "list")).toContainEqual(expect.objectContaining({ case_id: of, events_opened: 2 }));

    const one = await done(...rawOf(of, "one.ndjson", ...ofAccount, "--type", "login", "--from", "2020-01-31"));
    expect(one).toMatchObject([{ file: { rows: 1 } }]);
    expect(await done(...rawOf(of, "ids.ndjson", "--event", ids.join(",")))).toMatchObject([{ file: { rows: 2 } }]);
    const hidden = await openCase("--account", "hidden");
    expect((await drs(...rawOf(hidden, "no.ndjson", "--account", "hidden"))).stderr).toContain("No event is selected");
    await done("hold", "lift", String(hold?.["hold_id"]), "--reason", "it was resolved", "--yes");
  });

  it("beyond its case needs an approval, which has the number of these events", async () => {
    await store("raw-2", true, 1, { actionType: "transfer" });
    const wanted = ["--type", "transfer"];
    const direct = await drs(...rawOf(await openCase(...ofAccount), "beyond.ndjson", ...wanted));
    expect(direct).toMatchObject({ code: 1, stderr: expect.stringContaining("does not cover 1 event") as string });
    const { ask, approved } = await through("ines", "investigator");
    const opening = ["case", "open", ...ofAccount, "--category", "dispute", "--reason", "dispute 4712", "--json"];
    const of = String(objects((await ask(...opening)).stdout)[0]?.["case_id"]);
    expect(await approved(...rawOf(of, "beyond.ndjson", ...wanted))).toMatchObject({ case_id: of, file: { rows: 1 } });
    expect((await read("beyond.ndjson"))[0]).toMatchObject({ account: "raw-2", action_type: "transfer" });
    const [approval] = await done("approval", "list", "--limit", "1");
    expect(approval).toMatchObject({
      operation: "export.raw",
      parameters: { beyond_case: 1 },
      plan: { events: 1, accounts: 1, beyond_case: 1 },
      state: "used",
    });
    expect(JSON.stringify(approval)).not.toContain('"raw"');
    expect((await ask(...rawOf(await openCase(...ofAccount), "x", ...wanted))).stderr, "the case of another").toContain(
      "case",
    );
  });

  it("is for the approved number of events, and needs another approval for one more", async () => {
    await store("raw-4", true, 1);
    const { ask, approved } = await through("ina", "investigator");
    const opening = [
      "case",
      "open",
      "--account",
      "raw-4",
      "--category",
      "dispute",
      "--reason",
      "dispute 4713",
      "--json",
    ];
    const of = String(objects((await ask(...opening)).stdout)[0]?.["case_id"]);
    const exporting = rawOf(of, "counted.ndjson", "--account", "raw-4");
    const idOf = ({ code, stderr }: { readonly code: number; readonly stderr: string }): string => {
      expect(code, stderr).toBe(5);
      return /Approval (\S+) by privacy/.exec(stderr)?.[1] ?? "";
    };
    const { pool, clock, approvals } = opened.system;
    const given = idOf(await ask(...exporting));
    await approvals.decide(pool, clock, {
      approvalId: given,
      roles: ["privacy"],
      decision: "approved",
      person: "petra",
    });
    await store("raw-4", true, 1);
    expect(idOf(await ask(...exporting))).not.toBe(given);
    expect(await approved(...exporting)).toMatchObject({ file: { rows: 2 } });
  });

  const begin = async (events: number) => {
    const { system } = opened;
    const id = await openCase(...ofAccount);
    const person = String((await done("case", "list", "--limit", "1"))[0]?.["opened_by"]);
    const of = await findOpenCase(system.pool, system.clock, id, person);
    if (!of) throw new Error("the case is open");
    const order = {
      recipient: "police",
      expiresOn: "2999-01-31",
      detail: {},
      account: "raw",
      events,
      agent: DECIDER,
      case: of,
    };
    const selection = { filter: { account: "raw", to: Date.now() } };
    const parts = await beginEventExport({ ...system, onProgress: () => {} }, { ...order, selection }, async () => {});
    return { id, parts };
  };

  it("ends before it reads more events than were counted", async () => {
    const { id, parts } = await begin(1);
    const read: unknown[] = [];
    const reading = (async () => {
      for await (const part of parts) read.push(part);
    })();
    await expect(reading).rejects.toMatchObject({
      code: "state-conflict",
      message: expect.stringContaining("more than the 1 event") as string,
    });
    expect(read).toEqual([]);
    const released = "select from audit_entry where operation = 'event.export' and case_id = $1";
    expect((await opened.owner.query(released, [id])).rowCount).toBe(0);
  });

  it("ends with its case", async () => {
    const { id, parts } = await begin(2);
    await drs("case", "close", id);
    await expect(Array.fromAsync(parts)).rejects.toMatchObject({ code: "state-conflict" });
  });

  it("is recalled when an account is erased, and is not repeated", async () => {
    await store("raw-3", true, 1);
    const [made] = await done(...rawOf(await openCase("--account", "raw-3"), "recalled.ndjson", "--account", "raw-3"));
    const { export_id } = made as unknown as EventExportManifest;
    const [erasure] = await done("erase", "run", "--account", "raw-3", "--reason", "request 17", "--yes");
    expect(erasure).toMatchObject({ recalls: [{ export_id, recipient: "police", rows: 1 }] });
    expect(await done("export", "recall", export_id)).toMatchObject([{ rows: [1], acknowledged_at: null }]);
    const labels = await labelFile("raw", `good,,,${ago(0)},good`);
    const again = await drs(
      "export",
      "repeat",
      export_id,
      "--labels",
      labels,
      "--reason",
      "a check",
      "--out",
      path("y"),
    );
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("run drs export raw again") as string });
  });
});
