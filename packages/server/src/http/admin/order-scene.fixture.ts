/** A system without a running worker, orders of the admin API, and a worker that a test starts. */
import { afterEach, beforeAll, expect } from "vitest";
import type { Role, RouteId } from "@device-risk-signals/admin-api";
import { until } from "../../../../../e2e/support/embedded.ts";
import { type TestSystem, useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import type { System } from "../../runtime/system.ts";
import { listAudit } from "../../audit/audit.ts";
import type { RoleMapping } from "../../access/identity/role-mapping.ts";
import { issueAdminToken } from "../../access/identity/admin-tokens.ts";
import type { Caller } from "../../access/identity/caller.ts";
import {
  findAdminOrder,
  type OrderWithResult,
  recordChecked,
  type TakenOrder,
  takeOrder,
} from "../../access/orders/admin-orders.ts";
import { inOwnerTransaction, withClient } from "../../store/postgres/database.ts";
import { OrderWorker } from "../../serve/order-worker.ts";
import { type OrderResult, placeOrder, resultOf } from "../../operations/admin-orders.ts";
import { type AdminPorts, portsOf } from "../../operations/ports.ts";

export const HOUR_MS = 3_600_000;

type FoundOrder = OrderWithResult & OrderResult;

export interface OrderScene {
  readonly scene: TestSystem;
  /** Errors that workers reported. A test removes the errors that it expects. */
  readonly errors: unknown[];
  readonly ports: () => AdminPorts;
  readonly startWorker: (system?: System, mapping?: RoleMapping) => void;
  readonly stopWorker: () => Promise<void>;
  /** A caller with an admin token of these roles, which was issued `hoursAgo` hours ago, by default 3. */
  readonly callerOf: (
    person: string,
    roles: readonly Role[],
    hoursAgo?: number,
  ) => Promise<Caller & { readonly tokenId: string }>;
  /** @returns the id of the order. */
  readonly place: (caller: Caller, id?: RouteId, input?: object) => Promise<string>;
  readonly find: (id: string) => Promise<FoundOrder | undefined>;
  /** Starts a worker, and waits until the order has ended. */
  readonly ended: (id: string) => Promise<FoundOrder | undefined>;
  /** The latest audit entries of a person. */
  readonly audited: (
    person: string,
  ) => Promise<
    readonly { readonly operation: string; readonly outcome: string; readonly order?: string | undefined }[]
  >;
  /** Starts an order of a route and leaves it running, as a killed worker does. */
  readonly take: (id: RouteId) => Promise<TakenOrder | undefined>;
  /** Starts an order of a route, records that it was checked, and leaves it running, as a killed worker does. */
  readonly takeChecked: (id: RouteId) => Promise<void>;
  readonly check: (order: Pick<TakenOrder, "orderId" | "tries">) => Promise<boolean>;
  /** Changes columns that triggers protect, as a superuser can. */
  readonly change: (assignment: string, id: string) => Promise<unknown>;
}

/**
 * The hooks of a test file open and close the scene. After each test, they check that no unexpected error was reported.
 */
export function useOrderScene(): OrderScene {
  const folder = useFolder();
  const scene = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: `${folder()}/journal` }));
  const errors: unknown[] = [];
  let ports: AdminPorts;
  let worker: OrderWorker | undefined;

  beforeAll(() => {
    ports = portsOf(scene.system, scene.system);
  });
  afterEach(async () => {
    await worker?.close();
    worker = undefined;
    expect(errors.splice(0)).toEqual([]);
  });

  const startWorker: OrderScene["startWorker"] = (system = scene.system, mapping?) => {
    const roleFile = mapping && { current: mapping };
    worker = new OrderWorker({ system, roleFile, onError: (error) => void errors.push(error) });
  };
  const find: OrderScene["find"] = async (id) => {
    const row = await findAdminOrder(scene.system.pool, scene.system.clock, id);
    return row && { ...row, ...(await resultOf(ports, row)) };
  };
  const take: OrderScene["take"] = (id) =>
    withClient(scene.system.database, (session) => takeOrder(session, scene.system.clock, id));
  const check: OrderScene["check"] = (order) => {
    const checkedAt = new Date(scene.system.clock.now()).toISOString();
    const mac = scene.system.orders.signCheck(order.orderId, checkedAt);
    return recordChecked(scene.system.pool, order, { checkedAt, mac });
  };
  return {
    scene,
    errors,
    ports: () => ports,
    startWorker,
    stopWorker: async () => worker?.close(),
    async callerOf(person, roles, hoursAgo = 3) {
      const issuedAt = { now: () => scene.system.clock.now() - hoursAgo * HOUR_MS };
      const wanted = { person, roles, ttlMs: 24 * HOUR_MS };
      const { token_id: tokenId } = await inOwnerTransaction(scene.system.administration, (owner) =>
        issueAdminToken(owner, issuedAt, wanted),
      );
      return { person, roles, via: "api", actor: `${person} (admin token ${tokenId})`, tokenId };
    },
    place: async (caller, id = "runRetention", input = {}) => (await placeOrder(ports, id, caller, { input })).order_id,
    find,
    async ended(id) {
      startWorker();
      await until(async () => (await find(id))?.ended_at !== null);
      return find(id);
    },
    audited: async (person) =>
      (await listAudit(scene.system.pool, () => scene.system.secrets, { person, limit: 10 })).map(
        ({ operation, outcome, detail }) => ({ operation, outcome, order: (detail as { order_id?: string }).order_id }),
      ),
    take,
    check,
    async takeChecked(id) {
      const order = await take(id);
      if (order) await check(order);
    },
    change: (assignment, id) =>
      scene.owner.query(
        `begin; set local session_replication_role = replica;
          update drs.admin_order set ${assignment} where order_id = '${id}'; commit`,
      ),
  };
}
