import { type Command, CommanderError } from "commander";
import { AdoptedFieldsInvalid } from "../adopted-fields/adopted-fields.ts";
import { EmbeddedFault } from "../embedded-postgres/embedded-fault.ts";
import { KeyStoreUnfit } from "../lifecycle/recovery/installation.ts";
import { KeysGone, Unavailable } from "../ports.ts";
import { HoldUnfit } from "../lifecycle/holds/holds.ts";
import { PolicyUnfit } from "../policy/policy-table.ts";
import { SealBroken } from "../crypto/sealer.ts";
import { KeyVersionsFixed, WrapBroken } from "../crypto/key-encryption.ts";
import { ExportUnfit } from "../subject-requests/account-export.ts";
import { DatabaseUnfit } from "../postgres/migrate.ts";
import { JournalUnfit } from "../journal/journal.ts";
import { UnconfirmedOrder } from "../journal/unconfirmed-order.ts";
import { ReceiptInvalid } from "../lifecycle/receipts/receipt-signer.ts";
import { ownMessage } from "../messages/own-message.ts";
import { sqlState } from "../postgres/database.ts";
import { Failure, PartlyDone, WrongUsage } from "./context.ts";

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;
const PARTLY_DONE = 3;

/** Faults whose messages are made for people and quote nothing. */
const SPOKEN = [
  Failure,
  WrongUsage,
  PartlyDone,
  EmbeddedFault,
  KeyStoreUnfit,
  DatabaseUnfit,
  Unavailable,
  WrapBroken,
  SealBroken,
  KeysGone,
  PolicyUnfit,
  HoldUnfit,
  JournalUnfit,
  ReceiptInvalid,
  KeyVersionsFixed,
  ExportUnfit,
  AdoptedFieldsInvalid,
];

/** Runs the program; the result is its exit code. */
export async function runProgram(program: Command, args: readonly string[]): Promise<number> {
  try {
    await program.parseAsync([...args], { from: "user" });
    return DONE;
  } catch (fault) {
    if (fault instanceof CommanderError) return fault.exitCode === 0 ? DONE : WRONG_USAGE;
    program.configureOutput().writeErr?.(`${messageOf(fault)}\n`);
    if (fault instanceof PartlyDone) return PARTLY_DONE;
    return fault instanceof WrongUsage ? WRONG_USAGE : FAILED;
  }
}

function messageOf(fault: unknown): string {
  if (!(fault instanceof Error)) return "failed";
  if (fault instanceof UnconfirmedOrder) return `${messageOf(fault.cause)}\n${fault.message}`;
  const state = sqlState(fault);
  if (state !== undefined) return `the database refused (SQLSTATE ${state})`;
  if (SPOKEN.some((kind) => fault instanceof kind)) return fault.message;
  const { code } = fault as NodeJS.ErrnoException;
  if (code === "ECONNREFUSED") return "the database can't be reached: connection refused";
  if (fault instanceof AggregateError && code === undefined) return [fault.message, ...messagesOf(fault)].join("\n");
  const message = ownMessage(fault);
  if (message === undefined) return `failed: ${code ?? fault.name}`;
  return code === undefined ? message : `${message} (${code})`;
}

const messagesOf = ({ errors }: AggregateError): readonly string[] => [...new Set(errors.map(messageOf))];
