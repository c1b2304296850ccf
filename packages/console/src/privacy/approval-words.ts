import type { Answer } from "@device-risk-signals/admin-api";

export type Approval = Answer<"readApproval">;

const OPERATIONS: Readonly<Record<string, string>> = {
  "erase.run": "Erase data",
  "hold.add": "Place a hold",
  "hold.lift": "End a hold",
  "policy.apply": "Apply a policy that shortens periods",
  "account.export": "Export everything about an account",
  "export.raw": "Export exact bytes of events",
  "export.run": "Export features",
  "export.repeat": "Repeat an export of features",
  "feature.adopt": "Adopt a feature",
  "admin-token.issue": "Issue an admin token",
  "key.destroy": "Destroy a version of the key that wraps all keys",
};

export const operationWords = (operation: string): string => OPERATIONS[operation] ?? operation;

/** Who can decide, such as "a person with the role operator or privacy". */
export const deciders = ({ needed_roles, any_role }: Approval): string =>
  any_role || needed_roles.length === 1
    ? `another person with the role ${needed_roles.join(" or ")}`
    : `people with the roles ${needed_roles.join(" and ")}`;

export const STATES = {
  waiting: "waits for a decision",
  approved: "approved, not used yet",
  denied: "denied",
  used: "approved and used",
  expired: "expired",
  changed: "changed by a program other than the server: it allows nothing",
} as const satisfies Readonly<Record<Approval["state"], string>>;

/** Plan and parameters of an operation as names and values, in words where there are some. */
const NAMES: Readonly<Record<string, string>> = {
  events: "Events that are deleted",
  held: "Events that a hold keeps until it ends",
  still_held: "Copies that a hold still keeps",
  released: "Copies whose hold has ended",
  idempotency_keys: "Keys of retries",
  tokens: "Session tokens",
  actions: "Registered actions",
  keys: "Secrets that are destroyed",
  features: "Rows of feature values",
  derived_only: "Expired events with feature values left",
  exports: "Exports that are recalled",
  kind: "What is erased",
  subject_mac: "Coded name of the subject",
  refuse_later: "Refuse later events",
  events_released: "Events that become unreadable",
  hold_id: "Hold",
  sha256: "SHA-256 of the policy file",
  version: "Policy now",
  reason: "Reason",
};

export interface Named {
  readonly name: string;
  readonly value: string;
}

/** The members of a plan or of parameters; zeros and empty lists say nothing. */
export const namedMembers = (members: unknown): readonly Named[] =>
  Object.entries((members ?? {}) as Readonly<Record<string, unknown>>)
    .filter(([, value]) => value !== 0 && value !== false && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => ({ name: NAMES[name] ?? name, value: textOf(value) }));

function textOf(value: unknown): string {
  if (typeof value === "number") return value.toLocaleString("en");
  if (value === true) return "yes";
  return typeof value === "string" ? value : JSON.stringify(value);
}
