import type pg from "pg";
import { inTransactionOn, inOwnerTransaction, inTransaction, type OwnerDatabase, withOwner } from "./database.ts";
import type { Connection, Executor, OwnerTransaction, Transaction } from "./executor.ts";

declare const pool: pg.Pool;
declare const client: pg.Client;
declare const connection: Connection;
declare const transaction: Transaction;
declare const owner: OwnerDatabase;

declare function anywhere(executor: Executor): Promise<void>;
declare function onConnection(connection: Connection): Promise<void>;
declare function inside(transaction: Transaction): Promise<void>;
declare function asOwner(transaction: OwnerTransaction): Promise<void>;

export const accepted = [
  anywhere(pool),
  anywhere(transaction),
  inTransaction(pool, inside),
  inTransactionOn(connection, inside),
  inOwnerTransaction(owner, asOwner),
  inOwnerTransaction(owner, inside),
  withOwner(owner, (own) => inTransactionOn(own, asOwner)),
  withOwner(owner, onConnection),
];

export const rejected = [
  // @ts-expect-error a pool is no transaction
  inside(pool),
  // @ts-expect-error a pool is no transaction of the owner
  asOwner(pool),
  // @ts-expect-error a client may be in a transaction or not
  onConnection(client),
  // @ts-expect-error a transaction begins no other
  inTransactionOn(transaction, inside),
  // @ts-expect-error a connection is in no transaction
  inside(connection),
  // @ts-expect-error a transaction of the serving role is not the owner's
  asOwner(transaction),
  // @ts-expect-error the pool has the serving role
  inTransaction(pool, asOwner),
  // @ts-expect-error the connection has the serving role
  inTransactionOn(connection, asOwner),
];
