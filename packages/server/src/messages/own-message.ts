import pg from "pg";

/** Errors that the engine makes: their messages may quote what was parsed or called. */
const ENGINE_MADE = [SyntaxError, TypeError, RangeError, ReferenceError, URIError, EvalError];

/** Codes of this server, such as `adopted-fields-invalid`; those of Node, libraries and PostgreSQL are in upper case. */
const OWN_CODE = /^[a-z]+(-[a-z]+)+$/;

/** `pg` quotes the server's refusal and certificate in these; its other texts are fixed. */
const QUOTES_SERVER = /^SASL/;

/**
 * The message of an error where this server or Node wrote all of it: `undefined` where it may hold what another system
 * sent (a body that is no JSON, a certificate's names, a row of the database).
 */
export function ownMessage(fault: Error): string | undefined {
  const { code, syscall } = fault as NodeJS.ErrnoException;
  // Node composes these messages from the arguments of the call.
  if (typeof syscall === "string") return fault.message;
  const isForeign =
    (code !== undefined && !OWN_CODE.test(code)) ||
    fault instanceof pg.DatabaseError ||
    ENGINE_MADE.some((kind) => fault instanceof kind) ||
    QUOTES_SERVER.test(fault.message);
  return isForeign ? undefined : fault.message;
}
