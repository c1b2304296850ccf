import { type ErrorItem, type Rejection, VIOLATIONS } from "@device-risk-signals/contract";
import { placeOf } from "@device-risk-signals/contract/catalog/place";

/** A rule that a request broke, and where, in names of the contract and the catalog alone. */
export interface BrokenRule {
  /** Empty if the problem names no violation. */
  readonly violation: string;
  /** Empty for the whole request. */
  readonly place: string;
}

/** The distinct rules that a request broke. @param limit maximum number of rules, of which the first are returned. */
export function rulesOf({ errors }: Rejection, limit = Number.POSITIVE_INFINITY): readonly BrokenRule[] {
  const rules = new Map<string, BrokenRule>();
  for (const error of errors) {
    const rule = { violation: violationOf(error), place: placeOf(error.pointer) };
    rules.set(`${rule.violation} ${rule.place}`, rule);
    if (rules.size === limit) break;
  }
  return [...rules.values()];
}

/**
 * The entry of a problem with a single place has the code of the problem itself, which is not counted as a violation.
 */
const violationOf = ({ code }: ErrorItem): string => (Object.hasOwn(VIOLATIONS, code) ? code : "");
