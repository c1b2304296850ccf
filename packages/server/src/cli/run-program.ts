import { type Command, CommanderError } from "commander";
import { AdoptedFieldsInvalid } from "../adopted-fields/adopted-fields.ts";
import { EmbeddedPostgresError } from "../embedded-postgres/embedded-error.ts";
import { KeyStoreUnfit } from "../lifecycle/recovery/installation.ts";
import { KeysDestroyed, Unavailable } from "../ports.ts";
import { HoldUnfit } from "../lifecycle/holds/holds.ts";
import { PolicyUnfit } from "../policy/policy-table.ts";
import { PayloadDamaged } from "../crypto/sealer.ts";
import { KeyVersionsFixed, WrappedSecretDamaged } from "../crypto/key-encryption.ts";
import { ExportUnfit } from "../subject-requests/account-export.ts";
import { DatabaseUnfit } from "../postgres/migrate.ts";
import { JournalUnfit } from "../journal/journal.ts";
import { UnconfirmedOrder } from "../journal/unconfirmed-order.ts";
import { ReceiptInvalid } from "../lifecycle/receipts/receipt-signer.ts";
import { safeMessage } from "../messages/own-message.ts";
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
  EmbeddedPostgresError,
  KeyStoreUnfit,
  DatabaseUnfit,
  Unavailable,
  WrappedSecretDamaged,
  PayloadDamaged,
  KeysDestroyed,
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
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : WRONG_USAGE;
    program.configureOutput().writeErr?.(`${messageOf(error)}\n`);
    if (error instanceof PartlyDone) return PARTLY_DONE;
    return error instanceof WrongUsage ? WRONG_USAGE : FAILED;
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  if (error instanceof UnconfirmedOrder) return `${messageOf(error.cause)}\n${error.message}`;
  const state = sqlState(error);
  if (state !== undefined) return `the database refused (SQLSTATE ${state})`;
  if (SPOKEN.some((kind) => error instanceof kind)) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ECONNREFUSED") return "the database can't be reached: connection refused";
  if (error instanceof AggregateError && code === undefined) return [error.message, ...messagesOf(error)].join("\n");
  const message = safeMessage(error);
  if (message === undefined) return `failed: ${code ?? error.name}`;
  return code === undefined ? message : `${message} (${code})`;
}

const messagesOf = ({ errors }: AggregateError): readonly string[] => [...new Set(errors.map(messageOf))];
