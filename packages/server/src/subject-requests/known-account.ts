import type { LedgerNames } from "../crypto/pseudonymizer.ts";
import type { Executor } from "../postgres/database.ts";

/** A list of an account's events is audited under its name, whether or not there is such an account. */
const NAMED_BY_OPERATOR = "event.list";

/** What is known of an account: it holds data or did until an erasure, it is named by requests alone, or by nothing. */
export type AccountKnowledge = "held" | "requested" | "unknown";

/**
 * A name that was mistyped is unknown, or named by a request alone. Tokens, actions and events come with a row of
 * `account_identity`, which only an erasure deletes.
 */
export async function accountKnowledge(
  executor: Executor,
  names: LedgerNames,
  account: string,
): Promise<AccountKnowledge> {
  const { rows } = await executor.query<{ held: boolean; requested: boolean }>(
    `select exists (select from account_identity where account = $1)
        or exists (select from erasure where subject_mac = $2)
        or exists (select from refused_account where account_mac = $2)
        or exists (select from audit_entry where account = $1 and operation <> $3)
        or exists (select from audit_entry where $1 = any (accounts)) as held,
      exists (select from data_request where subject_mac = $2) as requested`,
    [account, names.subjectOf("account", account), NAMED_BY_OPERATOR],
  );
  if (rows[0]?.held) return "held";
  return rows[0]?.requested ? "requested" : "unknown";
}
