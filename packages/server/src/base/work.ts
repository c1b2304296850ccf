import { MAX_WORK_OF_KIND, type WorkRecord } from "@device-risk-signals/admin-api";

/** A piece of work that runs or waits, as the owner of its table describes it. It names no account. */
export type Work = Omit<WorkRecord, "age_seconds">;

/** How many pieces an owner reads, oldest first: one more than the list has, so that the list can say that there are more. */
export const WORK_READ = MAX_WORK_OF_KIND + 1;

/** SQL that cuts the name of who started a piece of work, because a login of the database can insert any. */
export const startedBy = (column: string): string => `left(${column}, 256) as started_by`;
