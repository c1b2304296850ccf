import { randomUUID } from "node:crypto";
import type { Input } from "@device-risk-signals/admin-api";
import { writeAudit } from "../../audit/audit.ts";
import type { Pseudonymizer } from "../../crypto/pseudonymizer.ts";
import { OperatorError } from "../../errors/operator-error.ts";
import { agentOf, type Caller } from "../../identity/caller.ts";
import { plural } from "../../messages/plural.ts";
import { streamSnapshot } from "../../postgres/database.ts";
import type { Executor } from "../../postgres/executor.ts";
import { exportAccount as partsOf } from "../../subject-requests/account-export.ts";
import { findRequest } from "../../subject-requests/data-requests.ts";
import { findAccountKnowledge } from "../../subject-requests/known-account.ts";
import { invalid, reasonOf } from "./input.ts";
import type { Operation } from "./operation.ts";
import { requireReplayedJournal } from "./ports.ts";

/** The audit entry of the export is written before its first line. */
export const exportAccount: Operation<"exportAccount"> = async ({ ports, caller, input }) => {
  const { pool, clock, config, report } = ports;
  const { account, request_id } = input;
  const reason = reasonOf(input.reason, config);
  const { audit, secrets, sealer, featureSealer, pseudonymizer, database } = await requireReplayedJournal(ports);
  await requireRequest(pool, caller, input);
  await requireStoredData(pool, pseudonymizer, account);
  const export_id = randomUUID();
  const entry = { ...agentOf(caller), operation: "account.export", outcome: "done", account, reason };
  const references = { export_id, ...(request_id !== undefined && { request_id }) };
  await writeAudit(pool, audit, { ...entry, references });
  const onProgress = (events: number): void => report(plural(events, "event"));
  const named = { account, export_id, exported_at: new Date(clock.now()).toISOString() };
  // The snapshot is taken after the entry is written, so that the export also contains this access.
  const answer = streamSnapshot(database, (transaction) =>
    partsOf({ transaction, secrets, sealer, featureSealer, pseudonymizer, onProgress }, named),
  );
  return { answer };
};

async function requireRequest(
  executor: Executor,
  { via }: Caller,
  { account, request_id: id }: Input<"exportAccount">,
): Promise<void> {
  if (id === undefined) {
    // guard(false): the admin API exports no account without a data request
    // fails: e2e/commands/remote-governance.test.ts › an account is exported
    if (via !== "direct") throw invalid("body/request_id", "is required");
    return;
  }
  const request = await findRequest(executor, id);
  // guard(false): an export is for an open request of its own account
  // fails: e2e/commands/remote-governance.test.ts › an account is exported
  if (request?.closed_at !== null || request.account !== account) {
    throw new OperatorError("not-found", `There is no request ${id} of this account that is open.`);
  }
}

async function requireStoredData(executor: Executor, pseudonymizer: Pseudonymizer, account: string): Promise<void> {
  const accountKnowledge = await findAccountKnowledge(executor, pseudonymizer, account);
  if (accountKnowledge === "held") return;
  const but = accountKnowledge === "requested" ? " but its requests (drs request list)" : "";
  throw new OperatorError(
    "not-found",
    `Nothing is stored about this account${but}, and nothing is written: check the spelling.`,
  );
}
