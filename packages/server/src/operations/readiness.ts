import { statfs } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { System } from "./system.ts";

/** Below this, the embedded cluster's disk counts as full. */
const LEAST_FREE_BYTES = 256 * 1024 * 1024;

/** A database that takes longer for nothing at all can't be reached. */
const ANSWER_WITHIN_MS = 2_000;

/** What keeps this process from serving, each with a line for people. Migrations are done before anything listens. */
export async function readiness({ pool, clusterDirectory }: System, draining: boolean): Promise<string[]> {
  const missing: string[] = [];
  if (draining) missing.push("draining: this process is about to stop");
  const asked = pool.query("select 1 from schema_migration limit 1").then(
    () => true,
    () => false,
  );
  const reachable = await Promise.race([asked, sleep(ANSWER_WITHIN_MS, false, { ref: false })]);
  if (!reachable) missing.push("database: can't be reached");
  const free = clusterDirectory === undefined ? undefined : await freeBytes(clusterDirectory);
  if (free !== undefined && free < LEAST_FREE_BYTES) missing.push("disk: less than 256 MiB are free");
  return missing;
}

export async function freeBytes(path: string): Promise<number | undefined> {
  return statfs(path).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => undefined,
  );
}
