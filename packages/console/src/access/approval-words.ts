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

const wordsOf = ({ operation }: Pick<Approval, "operation">): string => OPERATIONS.get(operation) ?? operation;

/** What is asked for, with its number or its person, in one line. It can have texts of people. */
export function titleOf(approval: Approval): string {
  const { plan, parameters } = approval;
  const of = (name: string): unknown =>
    [parameters, plan].map((values) => (values as Readonly<Record<string, unknown>> | null)?.[name]).find(Boolean);
  const number = (name: string, one: string): string => {
    const count = Number(of(name) ?? 0);
    return `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;
  };
  switch (approval.operation) {
    case "admin-token.issue":
      return `Issue an admin token to ${String(of("person"))}`;
    case "erase.run":
      return `Erase ${number("events", "event")}${of("kind") === "event" ? "" : ` of one ${String(of("kind"))}`}`;
    case "event.open":
      return `Open ${number("further_events", "event")} more than the limit`;
    case "export.raw":
      return `Export exact bytes of ${number("events", "event")}`;
    case "export.run":
    case "export.repeat":
      return `Export ${number("rows", "row")} of features`;
    case "hold.add":
      return `Place a legal hold on ${number("events", "event")}`;
    case "hold.lift":
      return `End a legal hold, which deletes ${number("events_released", "event")}`;
    default:
      return wordsOf(approval);
  }
}

/** Words for members whose name does not say it, the most important first; `events` differs between operations. */
const MEMBERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "erase.run.events": "Events that are deleted",
    "export.raw.events": "Events in the export",
    "hold.add.events": "Events that the hold covers now",
    events_released: "Events that are deleted, because only this hold keeps them",
    further_events: "Further events that may be opened",
    opened_in_24_hours: "Events that the person opened in 24 hours",
    beyond_case: "Events that the case does not cover",
    rows: "Rows",
    recipient: "Recipient",
    held: "Events that a hold keeps until it ends",
    exports: "Exports whose recipients must delete rows",
    further_exports: "Further exports of which the same is true",
    derived_only: "Expired events of which feature values are left",
    features: "Rows of feature values",
    keys: "Secrets that are destroyed",
    idempotency_keys: "Idempotency keys of which only a keyed hash stays",
    actions: "Registered actions that are deleted",
    tokens: "Session tokens that are deleted",
    released: "Copies whose hold has ended",
    still_held: "Copies of erased events that a hold keeps",
    exported_in_24_hours: "Other accounts that the person exported in 24 hours",
    by_admin_token: "Asked for by an admin token",
    kind: "What is erased",
    of: "What the hold covers",
    account_mac: "Account, as a keyed hash",
    action_mac: "Action, as a keyed hash",
    subject_mac: "Subject, as a keyed hash",
    refuse_later: "Later events of the account are refused",
    "policy.apply.version": "Policy that is replaced",
    sha256: "SHA-256 of the policy file",
    person: "Person",
    roles: "Roles",
    ttl_ms: "Valid for",
  }),
);

const keyOf = ({ operation }: Approval, member: string): string =>
  MEMBERS.has(`${operation}.${member}`) ? `${operation}.${member}` : member;

export const memberNames =
  (approval: Approval) =>
  (member: string): string =>
    MEMBERS.get(keyOf(approval, member)) ?? spaced(member);

const ORDER = [...MEMBERS.keys()];

export interface Ordered {
  /** The members that say something, the most important first. */
  readonly members: Readonly<Record<string, unknown>>;
  /** The names of the members that are zero. */
  readonly zero: readonly string[];
}

export function inOrder(approval: Approval, values: unknown): Ordered {
  const rank = (member: string): number => (ORDER.indexOf(keyOf(approval, member)) + ORDER.length) % ORDER.length;
  const entries = Object.entries(values ?? {}).toSorted(([a], [b]) => rank(a) - rank(b));
  const isZero = (value: unknown): boolean => value === 0 || (Array.isArray(value) && value.length === 0);
  return {
    members: Object.fromEntries(entries.filter(([, value]) => !isZero(value))),
    zero: entries.filter(([, value]) => isZero(value)).map(([member]) => memberNames(approval)(member)),
  };
}

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
