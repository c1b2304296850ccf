import type { Config } from "../../base/config/config.ts";
import type { ActionRegistry, Clock } from "../../base/ports.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { actionTable } from "./action-table.ts";
import { signedActions } from "./signed-actions.ts";

/**
 * Opens the registry of actions, which reads the table. If a signing secret is configured, the registry verifies signed
 * ids without the table.
 */
export function openActions(config: Config, executor: Executor, clock: Clock): ActionRegistry {
  const table = actionTable(executor, clock);
  const { signingSecret: secret } = config.actions;
  return secret === undefined ? table : signedActions(secret, table, clock);
}
