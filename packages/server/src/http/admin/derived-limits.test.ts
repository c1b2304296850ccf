/** Tests that one person can't remove many derived values whose raw events have expired. */
import { expect, it } from "vitest";
import { createAdminClient } from "@device-risk-signals/admin-api";
import { advanceClock } from "../../../../../e2e/support/test-clock.ts";
import { useFeatureScene } from "./feature-scene.fixture.ts";

const DAY_MS = 86_400_000;
const scene = useFeatureScene({ DRS_APPROVAL_EVENTS: "3" });

async function signedIn(person: string) {
  const { adminSessions, pool, clock } = scene.opened.system;
  const { secret } = await adminSessions.start(pool, clock, "login", {
    person,
    identity: "0".repeat(64),
    roles: ["privacy"],
    grants: [],
    authenticatedAt: new Date(clock.now()).toISOString(),
  });
  return createAdminClient({ url: scene.listener.url, token: secret });
}

it("events of which only derived values are left count in erasures and in policies that end a derived period", async () => {
  const accounts = ["a", "b", "c", "d", "e"];
  for (const account of accounts) for (let left = 2; left > 0; left--) await scene.store(account, true);
  await scene.extract();
  await advanceClock(scene.opened.environment, 33 * DAY_MS);
  await scene.drs("retention", "run", "--yes");
  await scene.store("e", true);
  await scene.extract();
  const client = await signedIn("officer");
  expect(await client.call("planErasure", { account: "e" })).toMatchObject({ events: 1, derived_only: 2 });

  const derived_retention = "P30D";
  const purpose = { id: "default", title: "t", legal_basis: "l", owner: "o", raw_retention: "P30D", derived_retention };
  const policy = JSON.stringify({ purposes: [purpose], actions: {}, unmapped: "default" });
  const { changes } = await client.call("applyPolicy", { policy, dry_run: true });
  expect(changes).toMatchObject([{ purpose: "default", events: 1, expire_earlier: 11, expire_at_once: 10 }]);
  const needed = { problem: { code: "approval-needed" } };
  await expect(client.call("applyPolicy", { policy })).rejects.toMatchObject(needed);

  const erase = (account: string) => client.call("runErasure", { account, reason: "request 17" });
  await erase("a");
  await expect(erase("b")).rejects.toMatchObject(needed);
  expect((await scene.opened.owner.query("select from live_feature")).rowCount).toBe(9);
});
