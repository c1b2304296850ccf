import { adoptFields, type AdoptedFields } from "@device-risk-signals/contract/catalog/adopted";
import type { FieldPath } from "@device-risk-signals/contract/catalog/check";

/**
 * Leaves out fields that the catalog of this server lacks, because it can't validate them. A newer server may have
 * adopted them, or a drift review may have accepted them.
 */
export function adoptKnownFields(paths: readonly FieldPath[]): AdoptedFields {
  const adoption = adoptFields(paths);
  if (adoption.ok) return adoption.adopted;
  const unknown = new Set(adoption.unknown);
  return adoptKnownFields(paths.filter((path) => !unknown.has(path)));
}
