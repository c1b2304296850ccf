import type pg from "pg";

/**
 * These types exist for the compiler alone: `database.ts` makes connections and transactions, and no other value is
 * one.
 */
declare const STATE: unique symbol;
declare const ROLE: unique symbol;

/** Runs statements: a pool, a connection or a transaction. */
export interface Executor {
  /** The type of a row is unknown for a plain text; `query` of `statement.ts` runs what declares its types. */
  query(text: string, values?: readonly unknown[]): Promise<pg.QueryResult<never>>;
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
