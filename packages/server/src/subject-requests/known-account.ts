import { findAccountId, isAccountRefused } from "../accounts/accounts.ts";
import { isAccountAudited } from "../audit/search-audit.ts";
import { wasErased } from "../lifecycle/erasure/erasures.ts";
import { isRequested } from "./data-requests.ts";
import type { Pseudonymizer } from "../crypto/pseudonymizer.ts";
import type { Executor } from "../postgres/executor.ts";

/**
 * The knowledge about an account: it has data or had until an erasure (`held`), it is named by requests alone
 * (`requested`), or by nothing (`unknown`).
 */
export type AccountKnowledge = "held" | "requested" | "unknown";

/**
 * A name that was mistyped is unknown, or named by a request alone. Tokens, actions and events come with a row of
 * `account_identity`, which only an erasure deletes.
 */
export async function findAccountKnowledge(
  executor: Executor,
  pseudonymizer: Pseudonymizer,
  account: string,
): Promise<AccountKnowledge> {
  const mac = pseudonymizer.subjectOf("account", account);
  const isHeld =
    (await findAccountId(executor, account)) !== undefined ||
    (await wasErased(executor, mac)) ||
    (await isAccountRefused(executor, mac)) ||
    (await isAccountAudited(executor, mac));
  if (isHeld) return "held";
  return (await isRequested(executor, mac)) ? "requested" : "unknown";
}
