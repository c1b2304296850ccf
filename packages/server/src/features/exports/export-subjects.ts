import type { Pseudonymizer } from "../../store/crypto/pseudonymizer.ts";
import type { ExportedSubject } from "./export-table.ts";

/** The event whose data a row has. */
export interface ExportedEvent {
  readonly account: string;
  /** The code of the purpose. */
  readonly purpose: number;
  readonly actionId: string;
  readonly eventId: string;
}

/** The subjects whose erasure would concern the row's data. */
export function subjectsOf(
  pseudonymizer: Pseudonymizer,
  row: number,
  { account, purpose, actionId, eventId }: ExportedEvent,
): readonly ExportedSubject[] {
  const macs = [
    pseudonymizer.subjectOf("account", account),
    pseudonymizer.subjectOf("purpose", account, String(purpose)),
    pseudonymizer.subjectOf("action", actionId),
    pseudonymizer.subjectOf("event", eventId),
  ];
  return macs.map((mac) => ({ row, mac }));
}

/** The event whose data a row has, as a subject. */
export const eventOf = (pseudonymizer: Pseudonymizer, row: number, eventId: string): ExportedSubject => ({
  row,
  mac: pseudonymizer.subjectOf("event", eventId),
});
