import { hasCode, OperatorError } from "../../base/errors/operator-error.ts";
import type { AuditSigner } from "../../audit/audit-signer.ts";
import { type Agent, writeAudit } from "../../audit/audit.ts";
import type { OwnerTransaction } from "../../store/postgres/executor.ts";
import type { AppendEntryPorts } from "../journal/append-entry.ts";
import { type KnownEntry, readChain } from "../journal/chain.ts";
import type { EntryCodec } from "../journal/entry-codec.ts";
import { findApplied, recordAcceptedLoss } from "../journal/applied-entries.ts";
import { type ErasureJournal, createLossExistsError } from "../journal/journal.ts";
import { lockJournal } from "../../store/postgres/advisory-locks.ts";

export interface LossStatement extends Agent {
  readonly sequence: number;
  readonly reason: string;
}

interface LossPorts extends Pick<AppendEntryPorts, "journal" | "codec"> {
  readonly audit: AuditSigner;
}

/**
 * Accepts that an entry of the journal is permanently lost, so that the system can use the journal without it. In a
 * restored database, events that the entry erased may then be readable again, and events that it held may be deleted.
 *
 * @param known the latest entries that other stores know.
 * @throws journal-loss-exists if the loss was accepted before; journal-loss-unneeded if another entry is the first
 * damaged one, or none is damaged; the other errors of `readChain`; Unavailable
 */
export async function acceptLoss(
  executor: OwnerTransaction,
  { journal, codec, audit }: LossPorts,
  known: readonly KnownEntry[],
  { sequence, reason, ...agent }: LossStatement,
): Promise<void> {
  await lockJournal(executor);
  await requireLoss({ journal, codec }, known, sequence);
  const digest =
    (await findDigestInNextEntry(journal, codec, sequence)) ??
    (await findApplied(executor, sequence))?.digest ??
    findDigestInKnownEntries(known, sequence);
  const at = new Date(audit.clock.now()).toISOString();
  await writeAudit(executor, audit, {
    ...agent,
    operation: "erase.accept-loss",
    outcome: "done",
    reason,
    detail: { entry: sequence },
  });
  await recordAcceptedLoss(executor, { sequence, at, actor: agent.actor, reason });
  const { installation } = codec;
  const loss = codec.encode({ version: 1, kind: "loss", sequence, installation, at, digest: digest ?? null });
  await journal.appendLoss(sequence, loss);
}

/** Requires that the entry is the first damaged one. @throws as `acceptLoss` does */
export async function requireLoss(
  { journal, codec }: Pick<AppendEntryPorts, "journal" | "codec">,
  known: readonly KnownEntry[],
  sequence: number,
): Promise<void> {
  const damaged = await firstDamaged(journal, codec, known);
  if (damaged === sequence) return;
  for await (const loss of journal.readLosses()) if (loss.sequence === sequence) throw createLossExistsError(sequence);
  if (damaged === undefined)
    throw new OperatorError("journal-loss-unneeded", "the erasure journal has every entry: there is no loss to accept");
  throw new OperatorError(
    "journal-loss-unneeded",
    `the first entry that is damaged is ${damaged}: say --entry ${damaged}`,
  );
}

async function firstDamaged(
  journal: ErasureJournal,
  codec: EntryCodec,
  known: readonly KnownEntry[],
): Promise<number | undefined> {
  try {
    await readChain(journal, codec, known);
    return undefined;
  } catch (error) {
    if (hasCode(error, "journal-damaged", "journal-foreign")) return error.detail.sequence;
    throw error;
  }
}

/** The digest of the entry, from `previous` of the next entry; `undefined` if the next entry is missing or damaged. */
async function findDigestInNextEntry(
  journal: ErasureJournal,
  codec: EntryCodec,
  sequence: number,
): Promise<string | undefined> {
  for await (const stored of journal.read(sequence + 1)) {
    if (stored.sequence !== sequence + 1) return undefined;
    try {
      return codec.decode(stored).previous;
    } catch (error) {
      if (hasCode(error, "journal-damaged", "journal-foreign")) return undefined;
      throw error;
    }
  }
  return undefined;
}

const findDigestInKnownEntries = (known: readonly KnownEntry[], sequence: number): string | undefined =>
  known.find((head) => head.sequence === sequence && head.digest !== undefined)?.digest;
