import { type ErrorItem, type Rejection, VIOLATIONS } from "@device-risk-signals/contract";
import { placeOf } from "@device-risk-signals/contract/catalog/place";

/** A rule that a request broke, and where, in names of the contract and the catalog alone. */
export interface BrokenRule {
  /** Empty if the problem names no violation. */
  readonly violation: string;
  /** Empty for the whole request. */
  readonly place: string;
}

/** The distinct rules that a request broke. */
export function rulesOf({ errors }: Rejection): readonly BrokenRule[] {
  const rules = errors.map((error) => ({ violation: violationOf(error), place: placeOf(error.pointer) }));
  return [...new Map(rules.map((rule) => [`${rule.violation} ${rule.place}`, rule])).values()];
}

/**
 * The entry of a problem with a single place has the code of the problem itself, which is not counted as a violation.
 */
const violationOf = ({ code }: ErrorItem): string => (Object.hasOwn(VIOLATIONS, code) ? code : "");
