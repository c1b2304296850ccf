import { type Answer, scopeOf } from "@device-risk-signals/admin-api";
import { type AuditRow, listAudit as queryAudit } from "../audit/audit.ts";
import type { Secrets } from "../store/crypto/secrets.ts";
import { isUuid } from "../base/identifiers/uuidv7.ts";
import { REFUSED_PERSON } from "../access/identity/role-mapping.ts";
import { findErasuresWithReceipts } from "../lifecycle/erasure/erasure-table.ts";
import { accountSubjects, subjectMac } from "../lifecycle/erasure/plan-erasure.ts";
import { readPurposeIds } from "../purposes/policy-table.ts";
import type { Operation } from "./operation.ts";
import type { Ports } from "./ports.ts";
import { AdminError } from "./problem.ts";
import { refusedNames, seesPseudonyms } from "./pseudonyms.ts";

const LIMIT = 50;

type ListPorts = "pool" | `keys.${"audit" | "pseudonymizer" | "secrets"}`;

export const listAudit: Operation<"listAudit", ListPorts> = async ({ ports, caller, scope, input }) => {
  const { limit = LIMIT } = input;
  // Hides the keyed MACs of accounts. If a caller searches by account, the entry of the search shows the account's MAC.
  // The caller could then recognise the MAC in entries about events of the account.
  const hidesAccounts = seesPseudonyms(caller);
  // guard(false): a caller who sees pseudonyms gets no account from their own entries
  if (hidesAccounts && input.account !== undefined) throw refusedNames();
  const from = input.after === undefined ? undefined : cursorOf(input.after);
  const findSecrets = async (): Promise<Secrets> => (await ports.keys()).secrets;
  const erased = input.account === undefined ? [] : await subjectsOf(ports, input.account);
  const rows = await queryAudit(ports.pool, findSecrets, {
    limit,
    ...(from && { from }),
    ...(input.account !== undefined && {
      account: (await ports.keys()).audit.named(input.account),
      erased: erased.map((mac) => mac.toString("hex")),
    }),
    ...(input.event_id !== undefined && { eventId: input.event_id }),
    ...(input.person !== undefined && { by: input.person }),
    ...(input.operation !== undefined && { operation: input.operation }),
    ...(input.from !== undefined && { since: Date.parse(input.from) }),
    ...(input.to !== undefined && { until: Date.parse(input.to) }),
    // guard(false): a caller without the auditor's role reads entries of its own
    ...(scope === "own" && { person: caller.person }),
    // Who reads sessions also needs the identities that were refused, to add them to the role file.
    ...(scopeOf("admin-tokens.read", caller.roles) && { also: REFUSED_PERSON }),
  });
  const { person, operation, from: since, to } = input;
  const detail = { limit, count: rows.length, person, operation, from: since, to };
  // guard(false): a caller who reads only own entries does not learn who was erased
  const erasures = scope === "own" ? [] : await findErasuresWithReceipts(ports.pool, erased);
  return {
    answer: {
      entries: rows.map((row) => shown(row, hidesAccounts)),
      next: rows.length === limit ? nextOf(rows, from) : null,
      erasures,
    },
    audit: { detail, ...(input.account !== undefined && { account: input.account }) },
  };
};

/** The keyed MACs that name an account and its purposes in the entries of their erasures. */
async function subjectsOf({ pool, keys }: Ports<ListPorts>, account: string): Promise<readonly Buffer[]> {
  const { pseudonymizer } = await keys();
  return accountSubjects(account, await readPurposeIds(pool)).map((subject) => subjectMac(pseudonymizer, subject));
}

function shown(row: AuditRow, hidesAccounts: boolean): Answer<"listAudit">["entries"][number] {
  return { ...row, ...(hidesAccounts && { account: null }), roles: row.roles && [...row.roles] };
}

type Cursor = { readonly entryId: string; readonly skip: number };

/**
 * The cursor of the next page. An entry about several events, such as that of a commit batch, has a row for each of
 * them, so a page may end between two rows of one entry.
 */
function nextOf(rows: readonly AuditRow[], from: Cursor | undefined): string | null {
  const entryId = rows.at(-1)?.entry_id;
  if (entryId === undefined) return null;
  const shown = rows.filter((row) => row.entry_id === entryId).length;
  const before = from?.entryId === entryId ? from.skip : 0;
  return `${entryId}.${before + shown}`;
}

/** @throws AdminError request-invalid */
function cursorOf(after: string): Cursor {
  const [entryId = "", skip = "", ...rest] = after.split(".");
  if (isUuid(entryId) && /^\d{1,9}$/.test(skip) && rest.length === 0) return { entryId, skip: Number(skip) };
  throw new AdminError("request-invalid", {
    errors: [{ where: "querystring/after", detail: "is not the `next` of a page" }],
  });
}
