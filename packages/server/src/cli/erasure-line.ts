import type { Answer } from "@device-risk-signals/admin-api";

/** One line about an erasure, which says how to get its receipt. */
export function erasureLine({ erasure_id, kind, finished_at }: Answer<"listAudit">["erasures"][number]): string {
  const state = finished_at === null ? "not finished" : `finished ${finished_at}; drs receipt get ${erasure_id}`;
  return `Erasure of the ${kind}: ${erasure_id}, ${state}`;
}
