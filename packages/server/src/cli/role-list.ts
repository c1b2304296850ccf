import { type Role, ROLE_NAMES } from "@device-risk-signals/admin-api";
import { InvalidArgumentError } from "commander";

/** Adds a role to the list. Commander calls it for each role of the option. */
export function roleList(text: string, before: readonly Role[] = []): readonly Role[] {
  const found = ROLE_NAMES.find((known) => known === text);
  if (!found) throw new InvalidArgumentError(`The roles are ${ROLE_NAMES.join(", ")}.`);
  return [...new Set([...before, found])];
}
