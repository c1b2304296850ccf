/** Secrets that a restored database still names, and that the key store has destroyed: nothing was lost. */
import { accountSecretName, holdSecretName, partitionSecretName } from "../../crypto/sealer.ts";
import { OperatorError } from "../../errors/operator-error.ts";
import { type ErasureEntry, isHoldOrder } from "../../journal/journal.ts";
import type { Comparison } from "./compare-with-journal.ts";

/** Names of the secrets that are destroyed for an entry. */
export const secretsOf = ({ keys, holds }: ErasureEntry): readonly string[] => [
  ...keys.map(accountSecretName),
  ...holds.map(holdSecretName),
];

/** Names of the secrets that the key store has destroyed, as its watermark says, for entries that the database lacks. */
export function destroyedSecrets({
  missing,
  watermark,
}: Pick<Comparison, "missing" | "watermark">): ReadonlySet<string> {
  const applied = missing.filter(({ sequence }) => sequence <= watermark.sequence);
  return new Set(applied.flatMap(({ entry }) => (entry && !isHoldOrder(entry) ? secretsOf(entry) : [])));
}

/** Throws where one of the secrets, which the key store lacks, may be in another copy of it. */
export type RequireDestroyed = (lacking: readonly string[]) => void;

/** @param destroyed as `destroyedSecrets` finds them. @returns a function that throws key-store-outdated */
export function requiringDestroyed(
  destroyed: ReadonlySet<string>,
  { isDatabaseBehind }: Pick<Comparison, "isDatabaseBehind">,
): RequireDestroyed {
  const isDestroyed = (name: string): boolean =>
    destroyed.has(name) || (isDatabaseBehind && name.startsWith(partitionSecretName("")));
  return (lacking) => {
    // guard(true): a replay erases no evidence that another copy of the key store opens
    // fails: e2e/replay-lost-secrets.test.ts › keeps what a hold covers
    if (lacking.every(isDestroyed)) return;
    throw new OperatorError(
      "key-store-outdated",
      "the key store lacks keys of what a hold keeps, and an entry of the erasure journal that is to be applied would " +
        "make it permanently unreadable: the entry was not applied. Restore the latest copy of the key store, " +
        "or accept that the keys are permanently lost: drs key accept-loss",
    );
  };
}
