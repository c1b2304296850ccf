import { findAccountId, isAccountRefused } from "../../store/accounts/accounts.ts";
import { isAccountAudited } from "../../audit/search-audit.ts";
import { wasErased } from "../erasure/erasure-table.ts";
import { isRequested } from "./request-table.ts";
import type { Pseudonymizer } from "../../store/crypto/pseudonymizer.ts";
import type { Executor } from "../../store/postgres/executor.ts";

/**
 * What the database knows about an account: `held` if the account has data, was erased or refused, or is named by an
 * audit entry; `requested` if only requests name it; `unknown` otherwise.
 */
export type AccountKnowledge = "held" | "requested" | "unknown";

/**
 * Looks up an account by a name that may be misspelt: a misspelt name is `unknown`, or `requested` if a request
 * contains it. Each account with tokens, actions or events has a row of `account_identity`, which only an erasure
 * deletes.
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
