import { randomUUID } from "node:crypto";
import type { Clock, Sealer } from "../ports.ts";
import type { LedgerNames } from "../seal/ledger-names.ts";
import type { Executor } from "../store/database.ts";
import { carryOut, copyHeldOf } from "./carry-out.ts";
import type { ErasureJournal, JournalEntry } from "./journal.ts";
import { headOf, installationId } from "./journal-head.ts";
import { conditionOf, type ErasureSubject, subjectMac } from "./subject.ts";

export interface ErasePorts {
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly names: LedgerNames;
  readonly journal: ErasureJournal;
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
 * Killed after the journal was written, it is carried out by the next start.
 *
 * @returns its sequence.
 * @throws JournalUnfit, Unavailable
 */
export async function beginErasure(executor: Executor, ports: ErasePorts, order: ErasureOrder): Promise<number> {
  const { subject, actor, reason, refuseLater } = order;
  await executor.query("select lock_holds()");
  await executor.query("select lock_journal()");
  // Long work first, while ingestion goes on; then the little that came meanwhile.
  await copyHeldOf(executor, ports.sealer, await findErased(executor, subject));
  await executor.query("select close_epoch()");
  const found = await findErased(executor, subject);
  await copyHeldOf(executor, ports.sealer, found);

  const { sequence, previous } = await headOf(executor);
  const entry: JournalEntry = {
    version: 1,
    sequence: sequence + 1,
    installation: await installationId(executor),
    erasure_id: randomUUID(),
    kind: subject.kind,
    at: new Date(ports.clock.now()).toISOString(),
    previous,
    ...found,
    holds: [],
    refused:
      refuseLater && subject.kind === "account"
        ? [ports.names.subjectOf("account", subject.account).toString("hex")]
        : [],
  };
  const text = `${JSON.stringify(entry)}\n`;
  await ports.journal.append(entry.sequence, text);
  await carryOut(executor, ports.names, text, entry, { actor, reason, subjectMac: subjectMac(ports.names, subject) });
  return entry.sequence;
}

async function findErased(
  executor: Executor,
  subject: ErasureSubject,
): Promise<Pick<JournalEntry, "keys" | "accounts" | "events">> {
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
  await executor.query("insert into account_identity (account) values ($1) on conflict do nothing", [subject.account]);
  return { keys, accounts: await ids("select account_id as id from account_identity where account = $1"), events };
}
