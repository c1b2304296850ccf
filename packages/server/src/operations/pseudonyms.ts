/** Callers who are shown pseudonyms of accounts. */
import { scopeOf } from "@device-risk-signals/admin-api";
import type { Caller } from "../access/identity/caller.ts";
import { AdminError } from "./problem.ts";

/** Whether the caller sees pseudonyms in place of names. A command on the database has no roles, and sees the names. */
export const seesPseudonyms = ({ roles }: Caller): boolean => scopeOf("events.list", roles) === "pseudonyms";

export const refusedNames = (): AdminError =>
  new AdminError("permission-missing", {
    detail: "A caller who is shown pseudonyms can't search by account, action, session or idempotency key.",
  });
