import { isAcceptedLoss } from "../store/accounts/secret-losses.ts";
import type { Keys } from "../runtime/open-keys.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { areKeysDestroyed, type StoredEvent } from "../base/ports.ts";
import type { Executor } from "../store/postgres/executor.ts";

/** Decrypts a stored event. @throws keys-destroyed. Its message says whether the loss of the secrets was accepted. */
export function openEvent(
  { sealer }: Pick<Keys, "sealer">,
  executor: Executor,
  event: StoredEvent,
): Promise<Uint8Array> {
  return sealer.open(event, event.sealedUnder, event.payload).catch(async (error: unknown) => {
    if (!areKeysDestroyed(error) || !(await isAcceptedLoss(executor, error.detail.secrets))) throw error;
    throw new OperatorError(
      "keys-destroyed",
      "The secrets of this event were lost, and the loss was accepted: its attributes are all that can be read.",
      { detail: error.detail },
    );
  });
}
