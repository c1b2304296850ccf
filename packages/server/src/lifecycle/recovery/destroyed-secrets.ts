/** Secrets that were destroyed on purpose, although a restored database still names them. They are not lost. */
import { accountSecretName, holdSecretName } from "../../store/crypto/sealer.ts";
import { hasCode, OperatorError } from "../../base/errors/operator-error.ts";
import { type ErasureEntry, isErasure } from "../journal/journal.ts";
import type { Secrets } from "../../store/crypto/secrets.ts";
import type { OnUnreadable } from "../holds/copy-held-events.ts";
import type { Comparison } from "./compare-with-journal.ts";

/** Names of the secrets that are destroyed for an entry. */
export const secretsOf = ({ keys, holds }: ErasureEntry): readonly string[] => [
  ...keys.map(accountSecretName),
  ...holds.map(holdSecretName),
];

/**
 * Finds the names of the secrets that are destroyed for entries which the database lacks. The key store has a
 * destruction record for each of these secrets, unless it is a copy from before the secret was created.
 */
export function destroyedSecrets({
  missing,
  watermark,
}: Pick<Comparison, "missing" | "watermark">): ReadonlySet<string> {
  const names = missing.flatMap(({ sequence, entry }) => {
    if (!entry || !isErasure(entry)) return [];
    // The secrets of an ended hold are destroyed before its journal entry is written, those of an erasure after it.
    return sequence <= watermark || entry.kind === "hold" ? secretsOf(entry) : [];
  });
  return new Set(names);
}

/**
 * Checks, for an erasure of held events, that no other copy of the key store is needed.
 * @param destroyed the result of `destroyedSecrets`. What is sealed under these secrets can't be opened.
 * @returns a function that throws key-store-outdated if another copy of the key store may open the event. It does not
 * throw for a damaged payload, which no key opens.
 */
export const refusingLost =
  (secrets: Secrets, destroyed: ReadonlySet<string>): OnUnreadable =>
  async (_, reason) => {
    const lacking = hasCode(reason, "keys-destroyed") ? reason.detail.secrets : [];
    const recorded = await secrets.findDestroyed(lacking);
    requireDestroyed(
      new Set([
        ...destroyed,
        // guard(drop): the key store itself destroyed the secret of a partition that was dropped since
        ...recorded,
      ]),
      lacking,
    );
  };

/** @param lacking names of secrets that the key store lacks. @throws key-store-outdated */
export function requireDestroyed(destroyed: ReadonlySet<string>, lacking: readonly string[]): void {
  // guard(true): an erasure deletes no evidence that another copy of the key store opens
  if (lacking.every((name) => destroyed.has(name))) return;
  throw new OperatorError(
    "key-store-outdated",
    "the key store lacks keys of what a hold keeps, and an erasure would make it permanently unreadable: the " +
      "erasure is not applied. Restore the latest copy of the key store, or accept that the keys are permanently " +
      "lost: drs key accept-loss",
  );
}
