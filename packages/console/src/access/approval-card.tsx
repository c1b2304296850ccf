import type { ReactNode } from "react";
import { useScope, useSession } from "../app/session.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { relative, Time } from "../ui/time.tsx";
import { ApprovalValues } from "./approval-values.tsx";
import { type Approval, deciders, STATES } from "./approval-words.ts";
import { DecideApproval } from "./decide-approval.tsx";

interface CardProps {
  readonly approval: Approval;
  readonly heading: ReactNode;
  readonly decided: (approval: Approval) => void;
}

/** What another person asked for: the plan that is approved, and the decision. */
export function ApprovalCard({ approval, heading, decided }: CardProps) {
  const { plan, parameters, state } = approval;
  // The reason is one of the facts, and some operations do exactly what they were asked for.
  const { reason: _, ...asked } = (parameters ?? {}) as Readonly<Record<string, unknown>>;
  const hasPlan = JSON.stringify(plan) !== JSON.stringify(parameters);
  return (
    <article className="approval">
      <header className="approval-head">
        {heading}
        <span className={`approval-state approval-${state}`}>{STATES[state]}</span>
      </header>
      <Asked approval={approval} />
      <div className="approval-plan">
        {hasPlan && (
          <section>
            <h3>What it would do, when it was asked for</h3>
            <ApprovalValues approval={approval} values={plan} />
          </section>
        )}
        <section>
          <h3>What is approved: exactly this</h3>
          <ApprovalValues approval={approval} values={asked} />
          {hasPlan && approval.max_events > 0 && (
            <p className="quiet small approval-zero">
              For more than {approval.max_events.toLocaleString("en")} events a new approval is asked for.
            </p>
          )}
        </section>
      </div>
      {state === "waiting" && <Decision approval={approval} decided={decided} />}
    </article>
  );
}

function Asked({ approval }: { readonly approval: Approval }) {
  const { requested_by, obtained_by, requested_at, expires_at, reason, state, approved_by, denied_by } = approval;
  return (
    <dl className="facts">
      <div>
        <dt>Asked by</dt>
        <dd>
          <Foreign text={requested_by} />
          {obtained_by !== null && (
            <>
              , with a token that <Foreign text={obtained_by} /> obtained
            </>
          )}
          , {relative(requested_at)}
        </dd>
        <dd className="quiet small">
          <Time at={requested_at} />
        </dd>
      </div>
      {state === "waiting" && (
        <div>
          <dt>Ends without a decision</dt>
          <dd>{relative(expires_at)}</dd>
          <dd className="quiet small">
            <Time at={expires_at} />
          </dd>
        </div>
      )}
      <div>
        <dt>Reason</dt>
        <dd>
          {reason === null ? (
            <span className="quiet">shown to who asked, to the roles that decide, and to the auditor</span>
          ) : (
            <Foreign text={reason} />
          )}
        </dd>
      </div>
      {approved_by.length > 0 && (
        <div>
          <dt>Approved by</dt>
          <dd>
            <Foreign text={approved_by.join(", ")} />
          </dd>
        </div>
      )}
      {denied_by !== null && (
        <div>
          <dt>{denied_by === requested_by ? "Withdrawn by" : "Denied by"}</dt>
          <dd>
            <Foreign text={denied_by} />
          </dd>
        </div>
      )}
    </dl>
  );
}

/** Who decides, and the buttons of a person who may. */
function Decision({ approval, decided }: Omit<CardProps, "heading">) {
  const { person, roles } = useSession();
  const canDecide = useScope("approvals.decide") !== undefined;
  const { requested_by, obtained_by, needed_roles } = approval;
  if (requested_by === person)
    return <DecideApproval approval={approval} routes={["withdrawApproval"]} decided={decided} />;
  if (obtained_by === person)
    return <p className="note">You obtained the token that asked: {deciders(approval)} decides.</p>;
  if (canDecide && needed_roles.some((role) => roles.includes(role))) {
    return <DecideApproval approval={approval} routes={["approve", "deny"]} decided={decided} />;
  }
  return (
    <p className="note">
      The decision needs {deciders(approval)}. You have: {roles.join(", ")}.
    </p>
  );
}
