/** The latest date until which the recipient of an export may keep its file. */
import { OperatorError } from "../../base/errors/operator-error.ts";
import { findFeaturePartitions } from "../feature-partitions.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { query, sql } from "../../store/postgres/statement.ts";
import { labelBatches, type LabelSource } from "./check-labels.ts";
import type { ExportOrder } from "./export-table.ts";
import { batchSizeOf, findSealed, type ValueScope } from "./find-values.ts";

const LATEST_EXPIRY = sql(
  `select id, (($2::timestamptz + derived_retention)::date)::text as latest from purpose
    where code = $1 and ($2::timestamptz + derived_retention)::date < $3::date`,
  ["int4", "timestamptz", "date"],
  { id: "text", latest: "text" },
);

type Expiry = Pick<ExportOrder, "purpose" | "expiresOn">;

/** @param oldest the time of receipt of the oldest event in the file. */
const findLatest = async (executor: Executor, { purpose, expiresOn }: Expiry, oldest: string) =>
  (await query(executor, LATEST_EXPIRY, [purpose, oldest, expiresOn])).rows[0];

/**
 * Requires that the recipient keeps the values of an event no longer than the server does.
 * @param oldest the time of receipt of the oldest event in the file.
 * @throws input-invalid, which names the latest possible date.
 */
export async function requireWithinPeriod(executor: Executor, expiry: Expiry, oldest: string): Promise<void> {
  const late = await findLatest(executor, expiry, oldest);
  // guard: no recipient keeps values longer than the purpose allows
  if (!late) return;
  throw new OperatorError(
    "input-invalid",
    `The derived_retention of purpose ${late.id} ends on ${late.latest} for the oldest of these values: --expires must be ${late.latest} or earlier.`,
  );
}

/**
 * Requires the same of the values that the labels select, before they are opened.
 * @throws input-invalid
 */
export async function requireLabelsWithinPeriod(
  executor: Executor,
  expiry: Expiry,
  scope: Omit<ValueScope, "features" | "inputStates" | "watermark">,
  source: LabelSource,
): Promise<void> {
  // Where the oldest partition of the purpose is recent enough, so are all values.
  const oldestPartition = (await findFeaturePartitions(executor, { purpose: expiry.purpose })).at(-1);
  if (!oldestPartition) return;
  if (!(await findLatest(executor, expiry, new Date(oldestPartition.lower_ms).toISOString()))) return;
  let oldest: string | undefined;
  for await (const labels of labelBatches(source, batchSizeOf(scope))) {
    const rows = await findSealed(executor, { ...scope, watermark: "infinity" }, labels);
    oldest = oldestOf(
      [...rows.values()].flatMap((own) => own.map(({ received_at }) => received_at)),
      oldest,
    );
  }
  if (oldest !== undefined) await requireWithinPeriod(executor, expiry, oldest);
}

/** The earliest of the times of receipt that are known. */
export const oldestOf = (times: readonly (string | undefined)[], before?: string): string | undefined =>
  times.reduce(
    (oldest, time) => (oldest === undefined || (time !== undefined && time < oldest) ? time : oldest),
    before,
  );
