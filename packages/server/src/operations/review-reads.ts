import { OPENING_OPERATIONS } from "../audit/opened-events.ts";
import { countReads, countUnverified, DIRECT_USE } from "../audit/review-reads.ts";
import { listRepeatedReasons, listUnusedCases } from "../access/cases/case-table.ts";
import type { Operation } from "./operation.ts";

const LIMIT = 1_000;
/** The default period: a week, because reviewers read the report each week. */
const PERIOD_MS = 7 * 86_400_000;

const READ_OPERATIONS = [...OPENING_OPERATIONS, "event.export", "account.export", "feature.compare"];

export const reviewReads: Operation<"reviewReads", "clock" | "pool"> = async ({ ports, caller, scope, input }) => {
  const { pool, clock } = ports;
  const since = new Date(input.since === undefined ? clock.now() - PERIOD_MS : Date.parse(input.since)).toISOString();
  const period = { since, person: scope === "own" ? caller.person : undefined, limit: LIMIT };
  const reads = await countReads(pool, { ...period, reads: READ_OPERATIONS, direct: DIRECT_USE });
  const repeated = await listRepeatedReasons(pool, period);
  const unused = await listUnusedCases(pool, period);
  const unverified_entries = await countUnverified(pool, since);
  return {
    answer: {
      since,
      reads: [...reads],
      unverified_entries,
      repeated_reasons: [...repeated],
      unused_cases: [...unused],
    },
    audit: { detail: { since, count: reads.length } },
  };
};
