/** Tests of audit secrets that a login of the database inserts: the server uses none of them. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { HOUR_MS, useAuditedAccount } from "./audited-account.fixture.ts";

const opened = useTestSystem();
const scene = useAuditedAccount(opened);
const { write, writeOf, listed, secretsOf, endedAgo, destroy, rowsOf, asRole } = scene;

describe("a secret that a login of the database inserted", () => {
  it.each(["drs_service", "drs_admin"])("has no time that the login chose: %s", async (role) => {
    const forge = "insert into audit_secret (secret_id, subject, created_at) values ($1, $2, 'infinity')";
    const forged = asRole(role, forge, randomUUID(), opened.system.audit.subjectOf(scene.account));
    await expect(forged).rejects.toMatchObject({ code: "42501" });
  });

  it.each([
    ["drs_service", "an account"],
    ["drs_service", "no account"],
    ["drs_admin", "an account"],
    ["drs_admin", "no account"],
  ])("is not used, and makes the server create no other: %s, of %s", async (role, of) => {
    const about = of === "an account" ? { account: scene.account } : {};
    const subject = about.account === undefined ? null : opened.system.audit.subjectOf(scene.account);
    await writeOf(about);
    await asRole(role, "insert into audit_secret (secret_id, subject) values ($1, $2)", randomUUID(), subject);
    const secrets = async () =>
      (await rowsOf("select from audit_secret where subject is not distinct from $1::bytea", subject)).length;
    const before = await secrets();
    for (let entries = 0; entries < 3; entries++) await writeOf(about);
    expect(await secrets()).toBe(before);
  });

  it("delays neither the erasure of its account nor the retention pass, however many rows there are", async () => {
    await write();
    const subject = opened.system.audit.subjectOf(scene.account);
    const flood =
      "insert into audit_secret (secret_id, subject) select gen_random_uuid(), $1 from generate_series(1, 2500)";
    await asRole("drs_admin", flood, subject);
    await write();
    await endedAgo(HOUR_MS);
    const ended = "select destroyed_at from audit_secret where subject = $1 and ended_at is not null";
    expect(await rowsOf(ended, subject)).toEqual([{ destroyed_at: null }]);
    await destroy(0);
    expect(await listed()).toMatchObject([{ unreadable: true }, { unreadable: true }]);
    expect(await rowsOf(ended, subject)).toEqual([{ destroyed_at: expect.any(Date) as Date }]);
  });

  it("is not used if it has the id of a lost row, and another account", async () => {
    await write();
    const [lost] = await secretsOf();
    await opened.owner.query("delete from audit_secret where secret_id = $1", [lost?.["secret_id"]]);
    const forge = "insert into audit_secret (secret_id, subject) values ($1, $2)";
    await asRole("drs_admin", forge, lost?.["secret_id"], opened.system.audit.subjectOf(`other-${scene.account}`));
    await write();
    expect(await secretsOf()).toEqual([
      { secret_id: expect.not.stringContaining(String(lost?.["secret_id"])) as string, destroyed_at: null },
    ]);
  });

  it("hides no secret if many rows have ids of lost rows, and another account", async () => {
    const lost = opened.system.audit.secretIdsOf(opened.system.audit.subjectOf(scene.account));
    const ids = Array.from({ length: 16 }, (_, number) => lost(number));
    const forge = "insert into audit_secret (secret_id, subject) select id, $2 from unnest($1::uuid[]) as id";
    await asRole("drs_admin", forge, ids, opened.system.audit.subjectOf(`other-${scene.account}`));
    await write();
    await write();
    expect(await secretsOf()).toHaveLength(1);
    await endedAgo(HOUR_MS);
    await destroy(0);
    expect(await listed()).toMatchObject([{ unreadable: true }, { unreadable: true }]);
  });
});
