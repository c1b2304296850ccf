import { randomUUID } from "node:crypto";
import { resolveHolds } from "../holds/resolve-holds.ts";
import type { Sealer } from "../ports.ts";
import type { LedgerNames } from "../seal/ledger-names.ts";
import type { Executor } from "../store/database.ts";
import { appendEntry, type AppendPorts } from "./append-entry.ts";
import { carryOut, copyHeldOf } from "./carry-out.ts";
import { closeEpoch } from "./close-epoch.ts";
import type { ErasureEntry } from "./journal.ts";
import { conditionOf, type ErasureSubject, isNothing, planErasure, subjectMac } from "./subject.ts";

export interface ErasePorts extends AppendPorts {
  readonly sealer: Sealer;
  readonly names: LedgerNames;
}

export interface ErasureOrder {
  readonly subject: ErasureSubject;
  readonly actor: string;
  readonly reason: string;
  /** Of an account: whether its later events are refused. */
  readonly refuseLater: boolean;
}

/**
 * Begins an erasure, in the owner's transaction: what holds keep is copied, commit batches are let out, the journal is
 * written, and from the commit on no read finds what was erased. What is committed later was sealed under another key.
 * Killed after the journal was written, it is carried out by whoever comes next; killed before, nothing has happened.
 *
 * @returns its sequence, or `undefined` where nothing is left to erase.
 * @throws JournalUnfit, Unavailable
 */
export async function beginErasure(
  executor: Executor,
  ports: ErasePorts,
  order: ErasureOrder,
): Promise<number | undefined> {
  const { subject, actor, reason, refuseLater } = order;
  await executor.query("select lock_holds()");
  await executor.query("select lock_journal()");
  await resolveHolds(executor, ports.names);
  if (!refuseLater && isNothing(await planErasure(executor, subject))) return undefined;
  if (subject.kind === "account") {
    await executor.query("insert into account_identity (account) values ($1) on conflict do nothing", [
      subject.account,
    ]);
  }
  // Long work first, while ingestion goes on; then the little that came meanwhile.
  await copyHeldOf(executor, ports.sealer, await findErased(executor, subject));
  await closeEpoch(executor);
  const found = await findErased(executor, subject);
  const unreadable = await copyHeldOf(executor, ports.sealer, found);

  const { entry, digest } = await appendEntry<ErasureEntry>(executor, ports, {
    kind: subject.kind,
    erasure_id: randomUUID(),
    subject: subjectMac(ports.names, subject).toString("hex"),
    ...found,
    holds: [],
    refused:
      refuseLater && subject.kind === "account"
        ? [ports.names.subjectOf("account", subject.account).toString("hex")]
        : [],
  });
  await carryOut(executor, ports.names, entry, digest, { actor, reason, unreadable: unreadable.length });
  return entry.sequence;
}

async function findErased(
  executor: Executor,
  subject: ErasureSubject,
): Promise<Pick<ErasureEntry, "keys" | "accounts" | "events">> {
  const { where, values } = conditionOf(subject);
  const ids = async (text: string): Promise<string[]> =>
    (await executor.query<{ id: string }>(text, [...values])).rows.map(({ id }) => id);
  const copies = `select event_id as id from held_event where ${where} and erased_by is null`;
  if (subject.kind === "event") return { keys: [], accounts: [], events: [subject.eventId] };
  if (subject.kind === "action") {
    const events = await ids(
      `select event_id as id from event where ${where} and not is_erased(key_id) union ${copies}`,
    );
    return { keys: [], accounts: [], events };
  }
  const keys = await ids(`select key_id as id from account_key where ${where} and erased_by is null`);
  const events = await ids(copies);
  if (subject.kind === "purpose") return { keys, accounts: [], events };
  return { keys, accounts: await ids("select account_id as id from account_identity where account = $1"), events };
}
