import type { LedgerNames } from "../crypto/pseudonymizer.ts";
import type { Executor } from "../postgres/database.ts";

/** A list of an account's events is audited under its name, whether or not there is such an account. */
const NAMED_BY_OPERATOR = "event.list";

/**
 * Whether anything is held about an account, or was until an erasure: a name that was mistyped is not known. Tokens,
 * actions and events come with a row of `account_identity`, which only an erasure deletes.
 */
export async function isKnownAccount(executor: Executor, names: LedgerNames, account: string): Promise<boolean> {
  const { rows } = await executor.query<{ known: boolean }>(
    `select exists (select from account_identity where account = $1)
        or exists (select from erasure where subject_mac = $2)
        or exists (select from refused_account where account_mac = $2)
        or exists (select from data_request where subject_mac = $2)
        or exists (select from audit_entry where account = $1 and operation <> $3)
        or exists (select from audit_entry where $1 = any (accounts)) as known`,
    [account, names.subjectOf("account", account), NAMED_BY_OPERATOR],
  );
  return rows[0]?.known ?? false;
}
