import type { Answer, Event } from "@device-risk-signals/admin-api";
import { useState } from "react";
import { call } from "../app/api.ts";
import { useScope, useSession } from "../app/session.tsx";
import { isApprovalNeeded } from "../privacy/next-step.ts";
import { WaitForApproval } from "../privacy/wait-for-approval.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { OpenCaseDialog } from "./open-case-dialog.tsx";
import { isOpened, keepOpened } from "./opened.ts";
import { OutcomeLegend } from "./outcome.tsx";
import { type Case, forgetCases, nameOf, useCase } from "./use-case.tsx";

/** The number of events that one call opens. */
const TOGETHER = 50;

type Unopened = Answer<"openEvents">["unopened"];

interface Result {
  readonly opened: number;
  readonly unopened: Unopened;
}

/** Opens the shown events of one account under one case. */
export function OpenPage({ events }: { readonly events: readonly Event[] }) {
  const scope = useScope("events.observations");
  const { person } = useSession();
  const [isAsking, setAsking] = useState(false);
  const [isOpening, setOpening] = useState(false);
  const [result, setResult] = useState<Result>();
  const [failed, setFailed] = useState<{ readonly error: unknown; readonly under: Case }>();
  const gone = new Set(result?.unopened.flatMap(({ event_id, reason }) => (reason === "limit" ? [] : [event_id])));
  const closed = events.filter(({ event_id }) => !isOpened(event_id) && !gone.has(event_id)).slice(0, TOGETHER);
  const [first] = closed;
  const areOfOne = closed.every(({ account }) => account === first?.account);
  const known = useCase(person, closed, scope !== undefined && areOfOne && first !== undefined);
  const hasOpened = events.some(({ event_id }) => isOpened(event_id));
  if (scope === undefined || (!first && !result && !hasOpened)) return null;
  const open = async (under: Case): Promise<void> => {
    setAsking(false);
    setOpening(true);
    setFailed(undefined);
    try {
      const event_ids = closed.map(({ event_id }) => event_id);
      const { opened, unopened, audit_entry } = await call("openEvents", { event_ids, case_id: under.case_id });
      for (const one of opened) keepOpened({ ...one, audit_entry });
      setResult({ opened: opened.length, unopened });
    } catch (error) {
      setFailed({ error, under });
      await forgetCases();
    }
    setOpening(false);
  };
  return (
    <section className="open-page" aria-label="Open the observations">
      {first && areOfOne && (
        <p>
          <button
            type="button"
            className="button"
            disabled={isOpening}
            onClick={() => (known ? void open(known) : setAsking(true))}
          >
            {isOpening ? "Opening…" : `Open ${closed.length === 1 ? "this event" : `these ${closed.length} events`}`}
          </button>{" "}
          <span className="quiet">
            {known ? (
              <>
                under case <Foreign text={nameOf(known)} />. Your name is written to the audit log.
              </>
            ) : (
              "to see what the devices reported. It asks for a reason."
            )}
          </span>
        </p>
      )}
      {first && !areOfOne && (
        <p className="quiet">Choose an account to open its events together: a case covers one account.</p>
      )}
      {result && <Told result={result} />}
      {hasOpened && <OutcomeLegend />}
      {failed &&
        (isApprovalNeeded(failed.error) ? (
          <WaitForApproval error={failed.error} again={() => void open(failed.under)} />
        ) : (
          <Failure error={failed.error} what="No event was opened" />
        ))}
      {isAsking && first && (
        <OpenCaseDialog event={first} isForAccount close={() => setAsking(false)} opened={(one) => void open(one)} />
      )}
    </section>
  );
}

const WHY: Readonly<Record<Unopened[number]["reason"], string>> = {
  limit: "you have reached the limit of events of 24 hours. Opening more asks for an approval",
  "not-found": "erased, expired or excluded from analysis meanwhile",
  "keys-destroyed": "their keys were destroyed or lost",
};

/** What was opened, and what was not and why. */
function Told({ result: { opened, unopened } }: { readonly result: Result }) {
  const reasons = Object.entries(Object.groupBy(unopened, ({ reason }) => reason));
  if (reasons.length === 0) return null;
  return (
    <div className="note" role="status">
      <p>
        {opened} of {opened + unopened.length} events were opened.
      </p>
      <ul>
        {reasons.map(([reason, list]) => (
          <li key={reason}>
            {list.length} not opened: {WHY[reason as keyof typeof WHY]}.
          </li>
        ))}
      </ul>
    </div>
  );
}
