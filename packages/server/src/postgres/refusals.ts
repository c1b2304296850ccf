import { Unusable } from "../dependencies/unusable.ts";
import { Unavailable } from "../ports.ts";
import { sqlState } from "./database.ts";

/** What an operator mends, by SQLSTATE. */
const REFUSALS: Readonly<Record<string, string>> = {
  "25006": "it is a read-only standby",
  "28000": "it refuses the login",
  "28P01": "it refuses the login",
  "3D000": "the database does not exist",
  "3F000": "a schema is missing",
  "42501": "its login lacks a privilege",
  "42703": "a column is missing",
  "42883": "a function is missing",
  "42P01": "a table is missing",
  "53100": "its disk is full",
  "53300": "it has too many connections",
};

/** No connection, or a server that starts or stops. */
const AWAY = /^(08|57P)/;

/**
 * What a caller is told of an error of a database: the reason by SQLSTATE, in words of our own, because the text of the
 * database may quote anything.
 * @param name of the database, for people.
 */
export function asUnusable(error: unknown, name: string): Unavailable {
  if (error instanceof Unavailable) return error;
  const state = sqlState(error);
  if (state === undefined || AWAY.test(state)) return new Unavailable(`the ${name} can't be reached`, { cause: error });
  const why = `${REFUSALS[state] ?? "it refuses a statement"} (SQLSTATE ${state})`;
  return new Unusable(name, `can't be used: ${why}`, { cause: error });
}
