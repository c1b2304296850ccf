import type { Answer } from "@device-risk-signals/admin-api";
import { spaced } from "../ui/data.tsx";

export type Approval = Answer<"readApproval">;

const OPERATIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "account.export": "Export everything about an account",
    "admin-token.issue": "Issue an admin token",
    "erase.run": "Erase data",
    "event.open": "Open more events than the limit of 24 hours",
    "export.raw": "Export exact bytes of events",
    "export.repeat": "Repeat an export of features",
    "export.run": "Export features",
    "feature.adopt": "Adopt a version of a feature",
    "hold.add": "Place a legal hold",
    "hold.lift": "End a legal hold",
    "key.destroy": "Destroy a version of the key-encryption key",
    "policy.apply": "Apply a policy by which events expire earlier",
  }),
);

export const wordsOf = ({ operation }: Pick<Approval, "operation">): string => OPERATIONS.get(operation) ?? operation;

/** Words for members whose name does not say it; first by operation, as `events` differs between them. */
const MEMBERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "erase.run.events": "Events that are deleted",
    "erase.run.exports": "Exports whose recipients must delete rows",
    "export.raw.events": "Events in the export",
    "hold.add.events": "Events that the hold covers now",
    "policy.apply.version": "Policy that is replaced",
    account_mac: "Account, as a keyed hash (an approval never has its name)",
    action_mac: "Action, as a keyed hash",
    actions: "Registered actions that are deleted",
    beyond_case: "Events that the case does not cover",
    by_admin_token: "Asked for by an admin token",
    derived_only: "Expired events of which feature values are left",
    exported_in_24_hours: "Other accounts that the person exported in 24 hours",
    features: "Rows of feature values",
    further_events: "Further events that may be opened",
    held: "Events that a hold keeps until it ends",
    idempotency_keys: "Idempotency keys that become tombstones",
    keys: "Secrets that are destroyed",
    of: "Kind",
    opened_in_24_hours: "Events that the person opened in 24 hours",
    released: "Copies whose hold has ended",
    sha256: "SHA-256 of the policy file",
    still_held: "Copies of erased events that a hold keeps",
    subject_mac: "Subject, as a keyed hash (an approval never has its name)",
    tokens: "Session tokens that are deleted",
    ttl_ms: "Valid for",
  }),
);

export const memberNames =
  ({ operation }: Approval) =>
  (member: string): string =>
    MEMBERS.get(`${operation}.${member}`) ?? MEMBERS.get(member) ?? spaced(member);

export const deciders = ({ needed_roles, any_role }: Approval): string =>
  any_role || needed_roles.length === 1
    ? `another person with the role ${needed_roles.join(" or ")}`
    : `another person for each of the roles ${needed_roles.join(" and ")}`;

export const STATES = {
  waiting: "waiting",
  approved: "approved, not yet used",
  denied: "denied",
  used: "approved and used",
  expired: "expired without a decision or use",
  changed: "changed in the database: allows nothing",
} as const satisfies Readonly<Record<Approval["state"], string>>;
