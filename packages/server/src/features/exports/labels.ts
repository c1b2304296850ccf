/** Rows of a label file: a label about an account, an action or an event, at one time. */
import { type Instant, parseDateTime } from "@device-risk-signals/contract";
import { accountOf } from "../../base/identifiers/account.ts";
import { isUuid } from "../../base/identifiers/uuidv7.ts";

/** Maximum number of characters of an action id and of a label. */
const MAX_LENGTH = 128;

/** The subject of a label. */
export type LabelSubject =
  | { readonly kind: "account"; readonly account: string }
  | { readonly kind: "action"; readonly account: string; readonly actionId: string }
  | { readonly kind: "event"; readonly account: string; readonly eventId: string };

export interface Label {
  /** The member `account` is empty if the row names no account. */
  readonly subject: LabelSubject;
  readonly at: Instant;
  /** The time as it is written in the file. */
  readonly labelTime: string;
  readonly label: string;
}

export type LabelResult =
  | { readonly ok: true; readonly label: Label }
  | { readonly ok: false; readonly problem: string };

export const LABEL_COLUMNS = ["account", "action_id", "event_id", "label_time", "label"] as const;

export type LabelCells = Partial<Readonly<Record<(typeof LABEL_COLUMNS)[number], string>>>;

/** Matches the start of a cell that a spreadsheet would run. */
const FORMULA = /^[=+\-@\t\r\n\uFF0B\uFF0D\uFF1D\uFF20]/u;
const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Whether a spreadsheet would run the text. */
export const isFormula = (text: string): boolean => FORMULA.test(text) && !NUMBER.test(text);

/** @param now milliseconds since the Unix epoch. */
export function labelOf(cells: LabelCells, now: number): LabelResult {
  const { label_time: labelTime = "", label = "" } = cells;
  const at = timeOf(labelTime);
  if (!at) return problem("label_time is neither a date nor a date-time of RFC 3339 with an offset, such as Z");
  if (at.epochMs > now) return problem("label_time is in the future");
  if (label === "") return problem("label is empty");
  if (label.length > MAX_LENGTH) return problem(`label has more than ${MAX_LENGTH} characters`);
  // guard(false): no export has a cell that a spreadsheet runs
  if (isFormula(label)) return problem("label is a formula");
  const subject = subjectOf(cells);
  return typeof subject === "string" ? problem(subject) : { ok: true, label: { subject, at, labelTime, label } };
}

/** RFC 3339 §5.6 allows a space in place of the `T`, which pandas and databases write. */
function timeOf(text: string): Instant | undefined {
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text);
  return parseDateTime(isDate ? `${text}T00:00:00Z` : text.replace(/^(\S{10}) /, "$1T"));
}

const problem = (text: string): LabelResult => ({ ok: false, problem: text });

/** @returns the subject, or a text that describes the problem. */
function subjectOf({ account: name = "", action_id: actionId = "", event_id: eventId = "" }: LabelCells) {
  const account = name === "" ? "" : accountOf(name);
  if (account === undefined) return "account is not a name of an account";
  if (actionId !== "" && eventId !== "") return "action_id and event_id are both given";
  if (eventId !== "") {
    if (!isUuid(eventId)) return "event_id is not an id of an event";
    return { kind: "event", account, eventId: eventId.toLowerCase() } as const;
  }
  if (actionId !== "") {
    if ([...actionId].length > MAX_LENGTH || actionId.includes("\0")) return "action_id is not an id of an action";
    return { kind: "action", account, actionId } as const;
  }
  return account === "" ? "none of account, action_id and event_id is given" : ({ kind: "account", account } as const);
}

/** A text that is equal for two labels about the same subject and instant. */
export function identityOf({ subject, at }: Label): string {
  const { kind, account } = subject;
  const id = kind === "action" ? subject.actionId : kind === "event" ? subject.eventId : "";
  return JSON.stringify([kind, account, id, at.epochMs, at.micros]);
}
