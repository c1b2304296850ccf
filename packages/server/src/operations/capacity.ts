import type { Answer } from "@device-risk-signals/admin-api";
import { freeBytes } from "../base/dependencies/readiness.ts";
import { BUILT_IN_PURPOSE } from "../base/ports.ts";
import { readRetentionState } from "../lifecycle/retention/run-table.ts";
import { bytesPerDay, readStorage, runwayDays, type Storage } from "../lifecycle/retention/storage.ts";
import { activeCodesOf } from "../purposes/active-purposes.ts";
import { readCurrentPolicy } from "../purposes/policy-table.ts";
import { findPartitions, readPartitionLoad } from "../store/events/partition-slices.ts";
import { firstMissing } from "../store/events/partitions.ts";
import type { Ports } from "./ports.ts";

export type CapacityParts = Ports<"clock" | "clusterDirectory" | "config" | "pool">;
export type Capacity = Answer<"readCapacity">;

const DAY_MS = 86_400_000;

/** Examines disk, partitions and locks. `drs doctor` and the admin API show the result. @throws Unavailable */
export async function examineCapacity(parts: CapacityParts): Promise<Capacity> {
  const { pool, config } = parts;
  const storage = await readStorage(pool, {
    replayWindowDays: config.retention.replayWindowMs / DAY_MS,
    auditDays: config.audit.retentionMs / DAY_MS,
  });
  const free = await freeBytesFor(parts, storage);
  const days = free === undefined ? undefined : runwayDays(storage.growths, free);
  const { locks: needed, capacity: available, sessions } = await readPartitionLoad(pool);
  return {
    disk: {
      free_bytes: free ?? null,
      database_bytes: storage.databaseBytes,
      events_per_day: Math.round(storage.eventsPerDay),
      bytes_per_day: Math.round(bytesPerDay(storage.growths)),
      days: days ?? null,
    },
    partitions: await examinePartitions(parts),
    locks: { needed, available, max_locks_per_transaction: Math.ceil(needed / sessions) },
  };
}

async function freeBytesFor(
  { clusterDirectory, config }: CapacityParts,
  { databaseBytes, maxWalBytes }: Storage,
): Promise<number | undefined> {
  if (clusterDirectory !== undefined) return freeBytes(clusterDirectory);
  const declared = config.service.databaseDiskBytes;
  return declared === undefined ? undefined : Math.max(0, declared - databaseBytes - maxWalBytes);
}

async function examinePartitions({ pool, clock }: CapacityParts): Promise<Capacity["partitions"]> {
  const partitions = await findPartitions(pool);
  const policy = await readCurrentPolicy(pool, BUILT_IN_PURPOSE);
  const ids = new Map(policy.purposes.map(({ code, id }) => [code, id]));
  const missing = activeCodesOf(policy).flatMap((code) => {
    const from = firstMissing(partitions, code, clock.now());
    return from === undefined ? [] : [{ purpose: ids.get(code) ?? "", from: new Date(from).toISOString() }];
  });
  const { overdue_partitions: overdue } = await readRetentionState(pool);
  return { partitions: partitions.length, missing, overdue };
}
