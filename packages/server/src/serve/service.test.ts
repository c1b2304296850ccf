import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAdminClient } from "@device-risk-signals/admin-api";
import { authorized, send, transport } from "../../../../e2e/support/client.ts";
import { makeCredentials } from "../../../../e2e/support/parties.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { issueAdminToken } from "../access/identity/admin-tokens.ts";
import { Dependencies } from "../base/dependencies/dependencies.ts";
import { inOwnerTransaction } from "../store/postgres/database.ts";
import { logDependencies, startService, type Service } from "./service.ts";

const HOUR_MS = 3_600_000;
const scene = useTestSystem("file", () => ({ DRS_PORT: "0", DRS_ADMIN_PORT: "0" }));
let service: Service;

beforeAll(async () => {
  service = await startService(scene.system, pino({ level: "silent" }));
});
afterAll(() => service?.stop());

describe("a statement of the admin API that is cancelled", () => {
  it("does not pause ingestion, and no dependency counts as not available", async () => {
    const { system, owner } = scene;
    const who = await makeCredentials(system, "customer-1");
    const issued = await inOwnerTransaction(system.administration, (transaction) =>
      issueAdminToken(transaction, system.clock, { person: "ann", roles: ["analyst"], ttlMs: HOUR_MS }),
    );
    const changed: string[] = [];
    system.dependencies.onChange(({ name }) => changed.push(name));
    const client = createAdminClient({ url: service.adminUrl, token: issued.token });

    await owner.query("begin; lock table drs.drift in access exclusive mode");
    const read = client.call("listDrift", {}).catch((error: unknown) => error);
    await expect
      .poll(async () => {
        await owner.query("select pg_stat_clear_snapshot()");
        const cancel = `select pg_cancel_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query ~ 'from\\s+drift'`;
        return (await owner.query(cancel)).rowCount;
      })
      .toBe(1);
    const statuses: number[] = [];
    for (let posted = 0; posted < 3; posted++) {
      const body = JSON.stringify(transport(who, new Date(system.clock.now())));
      statuses.push((await send({ url: service.url ?? "", headers: authorized(who), body })).status);
    }
    await owner.query("rollback");

    expect(await read).toMatchObject({ problem: { status: 503 } });
    expect(statuses).toEqual([201, 201, 201]);
    expect(changed).toEqual([]);
    expect(await send({ url: service.adminUrl, method: "GET", path: "/readyz" })).toMatchObject({
      status: 200,
      text: "ok\n",
    });
  });
});

describe("false credentials at the admin API", () => {
  it("are counted by kind, and audited at the latest when the service stops", async () => {
    const { system, owner } = scene;
    const serving = await startService(system, pino({ level: "silent" }));
    const headers = { Authorization: `Bearer drs_adm_${"d".repeat(43)}` };
    const path = "/admin/v1/session";
    const ask = () => send({ url: serving.adminUrl, method: "GET", path, headers });
    expect([(await ask()).status, (await ask()).status]).toEqual([401, 401]);
    const { text } = await send({ url: serving.adminUrl, method: "GET", path: "/metrics" });
    expect(text).toContain('drs_admin_false_credentials_total{kind="token"} 2');
    await serving.stop();
    const { rows } = await owner.query(
      "select occurrences::int4, detail->'sources' as sources from audit_entry where operation = 'session.authenticate'",
    );
    expect(rows).toEqual([{ occurrences: 2, sources: { "127.0.0.1": 2 } }]);
  });
});

it("an outage is logged once, once more for each further problem, and once at its end", () => {
  const logged: object[] = [];
  const dependencies = new Dependencies(1_000);
  logDependencies({ dependencies }, pino({}, { write: (line) => logged.push(JSON.parse(line) as object) }));
  const dependency = dependencies.get("key_store");
  for (const problem of ["is away", "is full", "is away", "is full"]) dependency.report("away", problem);
  dependency.resolve("away");
  const down = { dependency: "key_store", msg: "dependency is down" };
  expect(logged).toMatchObject([
    { ...down, problems: ["is away"] },
    { ...down, problems: ["is full"] },
    { dependency: "key_store", msg: "dependency is up" },
  ]);
});
