import type { AdminPorts } from "../admin/operations/ports.ts";
import { requireReplayed } from "../lifecycle/recovery/compare-with-journal.ts";
import type { Installation } from "./open-installation.ts";

const MONOTONIC_CLOCK = { now: (): number => performance.now() };

/** What the operations of the admin API take of an installation. */
export function adminPorts(installation: Installation): AdminPorts {
  const { pool, clock, sealer, pseudonymizer, config } = installation;
  return {
    pool,
    clock,
    monotonic: MONOTONIC_CLOCK,
    sealer,
    pseudonymizer,
    reasonMinLength: config.service.reasonMinLength,
    requireReplayed: async () => void (await requireReplayed({ ...installation, executor: pool }, "head")),
  };
}
