import { listAudit as queryAudit } from "../../audit/audit.ts";
import { actorPrefix } from "../../identity/caller.ts";
import type { Operation } from "./operation.ts";

const LIMIT = 50;

export const listAudit: Operation<"listAudit"> = async ({ ports, caller, scope, input }) => {
  const entries = await queryAudit(ports.pool, {
    limit: input.limit ?? LIMIT,
    ...(input.account !== undefined && { account: input.account }),
    ...(input.event_id !== undefined && { eventId: input.event_id }),
    // guard(false): a caller without the auditor's role reads entries of its own
    // fails: packages/server/src/admin/routes.test.ts › entries of others
    ...(scope === "own" && { actorPrefix: actorPrefix(caller.person) }),
  });
  const detail = { limit: input.limit ?? LIMIT, count: entries.length };
  return {
    answer: { entries: [...entries] },
    audit: { detail, ...(input.account !== undefined && { account: input.account }) },
  };
};
