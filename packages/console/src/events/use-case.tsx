/** The case under which a person opens events: asked once, and used for each further event that it covers. */
import type { Answer, Event } from "@device-risk-signals/admin-api";
import { queryClient, keyOf, useRead } from "../app/api.ts";

export type Case = Answer<"openCase">;

const OPEN = { open: true, limit: 100 } as const;

const covers = ({ scope, subject, account }: Case, event: Event): boolean =>
  (scope === "account" && subject === event.account) ||
  (scope === "event" && subject === event.event_id) ||
  (scope === "action" && subject === event.action_id && account === event.account);

/** The open case of the person that covers all these events and lasts longest. */
export function useCase(person: string, events: readonly Event[], isEnabled: boolean): Case | undefined {
  const { data } = useRead("listCases", OPEN, isEnabled);
  return data?.cases
    .filter(({ opened_by }) => opened_by === person)
    .filter((one) => Date.parse(one.expires_at) > Date.now() && events.every((event) => covers(one, event)))
    .toSorted((a, b) => b.expires_at.localeCompare(a.expires_at))[0];
}

/** Called after a case was opened or was refused. */
export const forgetCases = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keyOf("listCases", OPEN) });

export const nameOf = ({ ticket, case_id }: Case): string => ticket ?? case_id.slice(0, 8);
