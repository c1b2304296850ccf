import type pg from "pg";

/**
 * Marks that exist only for the compiler. `database.ts` gives them to the connections and transactions that it makes; any
 * other value gets them only by a cast, as in tests.
 */
declare const STATE: unique symbol;
declare const ROLE: unique symbol;

export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** The SQL of what an executor is asked to run. */
export const textOf = (statement: string | NamedText): string =>
  typeof statement === "string" ? statement : statement.text;

/** Runs statements: a pool, a connection or a transaction. */
export interface Executor {
  /**
   * For SQL that is a plain string, the type of a row is unknown; `query` of `statement.ts` runs statements that
   * declare their types. A named text is prepared once by each connection.
   */
  query(statement: string | NamedText, values?: readonly unknown[]): Promise<pg.QueryResult<never>>;
}

/** One connection, in no transaction. */
export interface Connection extends Executor {
  readonly [STATE]: "connection";
}

export interface Transaction extends Executor {
  readonly [STATE]: "transaction";
}

/** A connection of the owner of the tables. */
export interface OwnerConnection extends Connection {
  readonly [ROLE]: "owner";
}

/** A transaction of the owner of the tables, who may change what the serving role may not. */
export interface OwnerTransaction extends Transaction {
  readonly [ROLE]: "owner";
}

export type OwnerExecutor = OwnerConnection | OwnerTransaction;
