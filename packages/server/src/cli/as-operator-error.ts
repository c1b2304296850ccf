import { AdminRequestError } from "@device-risk-signals/admin-api";
import { hasCode, OperatorError } from "../base/errors/operator-error.ts";
import { safeMessage } from "../base/messages/own-message.ts";
import { translateDriverError } from "../store/postgres/errors.ts";

/** Converts any error to an operator error, which has a message for a person and an exit code. */
export function asOperatorError(error: unknown): OperatorError {
  // An error that the admin API answered has its cause in its message already.
  if (hasCode(error, "order-unconfirmed") && !(error.cause instanceof AdminRequestError)) {
    return new OperatorError(error.code, `${asOperatorError(error.cause).message}\n${error.message}`, { cause: error });
  }
  if (error instanceof OperatorError) return error;
  const translated = translateDriverError(error);
  if (translated) return translated;
  const isSeveral = error instanceof AggregateError && (error as NodeJS.ErrnoException).code === undefined;
  const code = isSeveral ? "several-errors" : "unexpected-error";
  return new OperatorError(code, isSeveral ? messagesOf(error) : messageOf(error), { cause: error });
}

function messagesOf({ message, errors }: AggregateError): string {
  return [message, ...new Set(errors.map((error) => asOperatorError(error).message))].join("\n");
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  const { code } = error as NodeJS.ErrnoException;
  const message = safeMessage(error);
  if (message === undefined) return `failed: ${code ?? error.name}`;
  return code === undefined ? message : `${message} (${code})`;
}
