import { isAcceptedLoss } from "../../store/accounts/secret-losses.ts";
import type { Secrets } from "../../store/crypto/secrets.ts";
import type { Executor } from "../../store/postgres/executor.ts";

/**
 * The payload of a copy whose original can't be opened, for example after a loss of secrets. Such a copy has only
 * attributes.
 */
export const LOST = Buffer.alloc(0);

/**
 * Whether no copy of the key store is expected to have these secrets: each was destroyed on purpose, or its loss was
 * accepted.
 */
export async function arePermanentlyLost(
  executor: Executor,
  secrets: Pick<Secrets, "findDestroyed">,
  names: readonly string[],
): Promise<boolean> {
  const destroyed = new Set(await secrets.findDestroyed(names));
  return isAcceptedLoss(
    executor,
    names.filter((name) => !destroyed.has(name)),
  );
}
