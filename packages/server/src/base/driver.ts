/** The driver of PostgreSQL. Every module imports it from here, because no variable of the environment may change it. */
import { asked, FORCE_NATIVE } from "./javascript-driver.ts";
import pg from "pg";

// The environment of an embedding host stays as it is.
if (asked !== undefined) process.env[FORCE_NATIVE] = asked;

/** These are constants of this module, because a bundler replaces a name that is only passed on, and drops the module. */
export const { Client, DatabaseError, escapeIdentifier, escapeLiteral, Pool, Query, TypeOverrides } = pg;
