import { DatabaseError } from "../driver.ts";
import { HostMisuse } from "../errors/host-misuse.ts";
import { OperatorError } from "../errors/operator-error.ts";

/** Classes of errors that the JavaScript engine throws. Their messages may quote what was parsed or called. */
const ENGINE_ERRORS = [SyntaxError, TypeError, RangeError, ReferenceError, URIError, EvalError];

/** Messages in which `pg` quotes the server's error or certificate. The other messages that `pg` writes are fixed. */
const QUOTES_SERVER = /^SASL/;

/**
 * The message of an error if this server or Node wrote all of it; `undefined` if it may quote what another system sent
 * (a body that is no JSON, a certificate's names, a row of the database).
 */
export function safeMessage(error: Error): string | undefined {
  if (error instanceof OperatorError || error instanceof HostMisuse) return error.message;
  const { code, syscall } = error as NodeJS.ErrnoException;
  // Node composes these messages from the arguments of the call.
  if (typeof syscall === "string") return error.message;
  const isForeign =
    code !== undefined ||
    error instanceof DatabaseError ||
    ENGINE_ERRORS.some((kind) => error instanceof kind) ||
    QUOTES_SERVER.test(error.message);
  return isForeign ? undefined : error.message;
}
