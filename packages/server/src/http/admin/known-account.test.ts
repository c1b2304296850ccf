/** Tests that reading about an account that does not exist does not make it known: a misspelt name stays unknown. */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { type Input, ROLE_NAMES, ROUTES, type RouteId, scopeOf } from "@device-risk-signals/admin-api";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { findAccountKnowledge } from "../../lifecycle/requests/known-account.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";

const scene = useTestSystem();
const listener = useAdminListener(() => scene.system);

/** What routes need in addition to the account. */
const OTHERS: Readonly<Record<string, string>> = { idempotency_key: "key" };

const READS = Object.entries(ROUTES).flatMap(([id, route]) => {
  const properties = "query" in route ? route.query.properties : {};
  return route.method === "GET" && "account" in properties ? [{ id: id as RouteId, route, properties }] : [];
});

it.each(READS)("$id leaves an unknown account unknown", async ({ id, route, properties }) => {
  const account = `misspelt-${randomUUID()}`;
  const role = ROLE_NAMES.find((one) => scopeOf(route.permission, [one]) === "full");
  const client = await listener.client(role === undefined ? [] : [role]);
  const others = Object.entries(OTHERS).filter(([name]) => name in properties);
  await client.call(id, { account, ...Object.fromEntries(others) } as Input<RouteId>).catch((error: unknown) => {
    expect(error).toMatchObject({ code: "not-found" });
  });
  expect(await findAccountKnowledge(scene.system.pool, scene.system.pseudonymizer, account)).toBe("unknown");
});
