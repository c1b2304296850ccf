import { MAX_WORK_OF_KIND } from "@device-risk-signals/admin-api";
import { listApprovalWork } from "../access/approvals/approval-work.ts";
import { listVerificationWork } from "../audit/verification-work.ts";
import { listBackfillWork } from "../features/backfill-work.ts";
import { listExportWork } from "../features/exports/export-work.ts";
import { listExtractionWork } from "../features/extraction-work.ts";
import { listErasureWork } from "../lifecycle/erasure/erasure-work.ts";
import { listHoldWork } from "../lifecycle/holds/hold-work.ts";
import type { ComparisonPorts } from "../lifecycle/recovery/compare-with-journal.ts";
import { listOrderWork } from "../lifecycle/recovery/order-work.ts";
import { listRetentionWork } from "../lifecycle/retention/retention-work.ts";
import { listRotationWork } from "../store/crypto/rotation-table.ts";
import { isMaintenanceLockTaken } from "../store/postgres/maintenance-lock.ts";
import type { Operation } from "./operation.ts";

type Parts = Omit<ComparisonPorts, "executor">;
type WorkPorts = "clock" | "database" | "pool" | `keys.${"approvals" | "audit"}` | `installation.${keyof Parts}`;

export const listWork: Operation<"listWork", WorkPorts> = async ({ ports }) => {
  const { pool, clock, database } = ports;
  const { approvals, audit } = await ports.keys();
  const isMaintained = await isMaintenanceLockTaken(pool);
  const listed = [
    await listErasureWork(pool, isMaintained),
    await listRetentionWork(pool, isMaintained),
    await listRotationWork(pool, isMaintained),
    await listOrderWork({ ...(await ports.installation()), executor: pool, database }),
    await listHoldWork(pool),
    await listBackfillWork(pool),
    await listExtractionWork(pool),
    await listExportWork(pool),
    await listApprovalWork(approvals, pool, clock),
    await listVerificationWork(pool, audit.verifications),
  ];
  const work = listed
    .flatMap((ofKind) => ofKind.slice(0, MAX_WORK_OF_KIND))
    .map((one) => ({ ...one, age_seconds: ageOf(one.started_at, clock.now()) }))
    .toSorted((one, other) => (other.age_seconds ?? Infinity) - (one.age_seconds ?? Infinity) || 0);
  const more = listed.flatMap((ofKind) => ofKind.slice(MAX_WORK_OF_KIND, MAX_WORK_OF_KIND + 1).map(({ kind }) => kind));
  return { answer: { work, more }, audit: { detail: { count: work.length } } };
};

const ageOf = (startedAt: string | null, now: number): number | null =>
  startedAt === null ? null : Math.max(0, Math.floor((now - Date.parse(startedAt)) / 1_000));
