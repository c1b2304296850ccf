import { statfs } from "node:fs/promises";
import type { System } from "./system.ts";

/** Below this, the embedded cluster's disk counts as full. */
const LEAST_FREE_BYTES = 256 * 1024 * 1024;

/** What keeps this process from serving, each with a line for people. Migrations are done before anything listens. */
export async function readiness({ pool, clusterDirectory }: System, draining: boolean): Promise<string[]> {
  const missing: string[] = [];
  if (draining) missing.push("draining: this process is about to stop");
  const reachable = await pool.query("select 1 from schema_migration limit 1").then(
    () => true,
    () => false,
  );
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
