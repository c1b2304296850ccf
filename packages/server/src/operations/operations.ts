import { type RouteId, ROUTES } from "@device-risk-signals/admin-api";
import type { Operation, OperationCall, OperationResult, Operations } from "./operation.ts";
import type { PortName } from "./ports.ts";

type TagOf<Id extends RouteId> = (typeof ROUTES)[Id]["tag"];
type Tag = TagOf<RouteId>;
type IdsOf<T extends Tag> = { [Id in RouteId]: TagOf<Id> extends T ? Id : never }[RouteId];

/**
 * Loads the operations of the routes with a tag. An operation has the name of its route. A command loads those of one
 * tag.
 */
const OPERATIONS: { readonly [T in Tag]: () => Promise<Pick<Operations, IdsOf<T>>> } = {
  Session: () => import("./session.ts"),
  Health: () => import("./health.ts"),
  Work: () => import("./work.ts"),
  Events: async () => ({
    ...(await import("./events.ts")),
    ...(await import("./count-events.ts")),
    ...(await import("./open-events.ts")),
    ...(await import("./tail-events.ts")),
    ...(await import("./timeline.ts")),
  }),
  Cases: () => import("./cases.ts"),
  Approvals: () => import("./approvals.ts"),
  Audit: async () => ({
    ...(await import("./audit.ts")),
    ...(await import("./review-reads.ts")),
    ...(await import("./audit-log.ts")),
    ...(await import("./reviews.ts")),
  }),
  People: () => import("./people.ts"),
  "Admin tokens": () => import("./admin-tokens.ts"),
  "Session tokens": () => import("./session-tokens.ts"),
  Actions: () => import("./actions.ts"),
  Purposes: () => import("./purposes.ts"),
  Drift: () => import("./drift.ts"),
  Features: async () => ({
    ...(await import("./features.ts")),
    ...(await import("./backfills.ts")),
    ...(await import("./explain-feature.ts")),
    ...(await import("./verify-features.ts")),
    ...(await import("./attestations.ts")),
    ...(await import("./compare-features.ts")),
    ...(await import("./describe-feature.ts")),
  }),
  Exports: async () => ({ ...(await import("./exports.ts")), ...(await import("./export-events.ts")) }),
  Counters: async () => ({ ...(await import("./counters.ts")), ...(await import("./recent-rejections.ts")) }),
  Holds: () => import("./holds.ts"),
  Restrictions: () => import("./restrictions.ts"),
  Receipts: () => import("./receipts.ts"),
  Retention: () => import("./retention.ts"),
  "Requests of data subjects": () => import("./requests.ts"),
  Accounts: () => import("./account-export.ts"),
  Erasures: () => import("./erasures.ts"),
  Keys: () => import("./keys.ts"),
  Backups: () => import("./backups.ts"),
};

/** Loads the operations of routes, for a process that later may find the files of another release. */
export async function loadOperations(ids: readonly RouteId[]): Promise<void> {
  await Promise.all([...new Set(ids.map((id) => ROUTES[id].tag))].map((tag) => OPERATIONS[tag]()));
}

/** Loads the operation of a route, and calls it. */
export async function callOperation<Id extends RouteId>(id: Id, call: OperationCall<Id>): Promise<OperationResult<Id>> {
  const operations = (await OPERATIONS[ROUTES[id].tag]()) as unknown as { readonly [I in Id]: Operation<I, PortName> };
  return operations[id](call);
}
