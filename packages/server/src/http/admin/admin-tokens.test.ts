import { afterAll, describe, expect, it } from "vitest";
import { createAdminClient } from "@device-risk-signals/admin-api";
import { connectAsOwner } from "../../../../../e2e/support/database.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { listAdminTokens, revokeAdminToken } from "../../access/identity/admin-tokens.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";
import { NO_ID } from "./stored-event.fixture.ts";

const scene = useTestSystem();
const listener = useAdminListener(() => scene.system);

afterAll(() => expect(listener.errors, "a mistake of a caller is no error of the listener").toEqual([]));

describe("an admin token", () => {
  it("that is revoked is rejected at once", async () => {
    const client = await listener.client(["auditor"], { person: "leaver" });
    await client.call("readSession", {});
    const row = (await listAdminTokens(scene.system.pool)).find(({ person }) => person === "leaver");
    await revokeAdminToken(scene.system.pool, scene.system.clock, row?.token_id ?? "");
    await expect(client.call("readSession", {})).rejects.toMatchObject({ status: 401, code: "credentials-invalid" });
  });

  it("is revoked with the other tokens of its person, and with tokens that this person obtained for others", async () => {
    const clients = [
      await listener.client(["auditor"], { person: "leaver-2" }),
      await listener.client(["analyst"], { person: "leaver-2" }),
      await listener.client(["auditor"], { person: "machine-2", obtainedBy: "leaver-2" }),
    ];
    const own = await listener.client(["auditor"], { person: "machine-2" });
    const operator = await listener.client(["operator"]);
    expect((await operator.call("revokeAdminTokensOf", { person: "leaver-2" })).token_ids).toHaveLength(3);
    for (const client of clients) await expect(client.call("readSession", {})).rejects.toMatchObject({ status: 401 });
    expect(await own.call("readSession", {})).toMatchObject({ person: "machine-2" });
  });

  it("works while another transaction holds its row", async () => {
    const client = await listener.client(["auditor"], { person: "held" });
    const holder = await connectAsOwner(scene.environment);
    try {
      await holder.query("begin");
      await holder.query("select from admin_token where person = 'held' for update");
      expect(await client.call("readSession", {})).toMatchObject({ person: "held" });
    } finally {
      await holder.end();
    }
  });

  it("is looked up only if the text has the form of one", async () => {
    const holder = await connectAsOwner(scene.environment);
    try {
      await holder.query("begin");
      await holder.query("lock table admin_token, admin_session");
      for (const text of ["x", "drs_admin_x", `${"a".repeat(43)}.${"b".repeat(43)}`]) {
        const client = createAdminClient({ url: listener.url, token: text });
        await expect(client.call("readSession", {}), text).rejects.toMatchObject({ status: 401 });
      }
    } finally {
      await holder.end();
    }
  });

  it("that has expired is rejected", async () => {
    const client = await listener.client(["auditor"], { at: Date.now() - 2 * 3_600_000 });
    await expect(client.call("readSession", {})).rejects.toMatchObject({ code: "credentials-invalid" });
  });

  it("decides about no approval, because it is not a person", async () => {
    const client = await listener.client(["operator"]);
    for (const decision of ["approve", "deny"] as const) {
      await expect(client.call(decision, { approval_id: NO_ID })).rejects.toMatchObject({ code: "permission-missing" });
    }
  });

  it("can't be a session token of the endpoint", async () => {
    const client = createAdminClient({ url: listener.url, token: `drs_${"a".repeat(43)}` });
    await expect(client.call("readSession", {})).rejects.toMatchObject({ code: "credentials-invalid" });
  });

  it("is listed with the time of its last use", async () => {
    const client = await listener.client(["privacy"], { person: "user-of-tokens" });
    const { tokens } = await client.call("listAdminTokens", {});
    const used = tokens.find(({ person }) => person === "user-of-tokens");
    expect(Date.now() - Date.parse(used?.last_used_at ?? "")).toBeLessThan(60_000);
  });

  it("is revoked by the operator", async () => {
    await listener.token(["analyst"], { person: "thief" });
    const client = await listener.client(["operator"]);
    const { tokens } = await client.call("listAdminTokens", {});
    const token_id = tokens.find(({ person }) => person === "thief")?.token_id ?? "";
    expect(await client.call("revokeAdminToken", { token_id })).toEqual({ token_id });
    await expect(client.call("revokeAdminToken", { token_id })).rejects.toMatchObject({ code: "not-found" });
  });
});
