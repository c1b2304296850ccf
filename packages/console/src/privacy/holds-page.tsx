import { useState } from "react";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Due } from "./due.tsx";
import { LiftHold } from "./lift-hold.tsx";
import { PlaceHold } from "./place-hold.tsx";
import { ReviewHold } from "./review-hold.tsx";
import { useRowLimit } from "./row-limit.tsx";
import { countOf, dateOf, type Hold, subjectOf } from "./words.ts";

export function HoldsPage() {
  const canRead = useScope("governance.read") !== undefined;
  const canPlace = useScope("holds.place") !== undefined;
  const [isPlacing, setPlacing] = useState(false);
  const { data, error, refetch } = useRead("listHolds", {}, canRead);
  return (
    <>
      <header className="page-head">
        <div>
          <h1>Legal holds</h1>
          <p className="quiet">A hold keeps events although their period has ended, or they were erased.</p>
        </div>
        {canPlace && (
          <button type="button" className="button" onClick={() => setPlacing(true)}>
            Place a hold
          </button>
        )}
      </header>
      {isPlacing && <PlaceHold close={() => setPlacing(false)} />}
      {!canRead && <Forbidden permission="governance.read" what="The list of holds" />}
      {error && <Failure error={error} what="The holds could not be read" again={() => void refetch()} />}
      {canRead && !error && !data && <Skeleton lines={6} />}
      {data && <Lists holds={data.holds} />}
    </>
  );
}

const byReview = (a: Hold, b: Hold): number => a.review_on.localeCompare(b.review_on);

function Lists({ holds }: { readonly holds: readonly Hold[] }) {
  const active = holds.filter(({ lifted_at }) => lifted_at === null).toSorted(byReview);
  const ended = holds.filter(({ lifted_at }) => lifted_at !== null);
  const overdue = active.filter(({ review_overdue }) => review_overdue).length;
  if (holds.length === 0) {
    return (
      <div className="empty">
        <h2>No holds</h2>
        <p className="quiet">
          Place one when a dispute or an authority needs events that would be deleted. It names who decided it, and a
          day on which somebody asks whether it is still needed.
        </p>
      </div>
    );
  }
  return (
    <>
      <header className="section-head">
        <h2>Active</h2>
        <span className={overdue > 0 ? "overdue" : "quiet"}>
          {active.length === 0 ? "none" : `${active.length} in all, ${countOf(overdue, "review")} overdue`}
        </span>
      </header>
      {active.length > 0 && <Active holds={active} />}
      {ended.length > 0 && (
        <>
          <header className="section-head">
            <h2>Ended</h2>
          </header>
          <Ended holds={ended} />
        </>
      )}
    </>
  );
}

function Covers({ hold }: { readonly hold: Hold }) {
  const { account, action_id, is_unresolved } = hold;
  const what = account !== null ? "account" : action_id !== null ? "action" : "event";
  return is_unresolved ? (
    <span className="quiet">restored from the journal; its subject is not known yet</span>
  ) : (
    <>
      {what} <Foreign text={subjectOf(hold)} />
    </>
  );
}

function Active({ holds }: { readonly holds: readonly Hold[] }) {
  const { shown, foot } = useRowLimit(holds);
  const canChange = useScope("governance.change") !== undefined;
  return (
    <>
      <div className="table-scroll" tabIndex={0} role="region" aria-label="Active holds, first the one to review first">
        <table className="table wide-table">
          <thead>
            <tr>
              <th scope="col">Review</th>
              <th scope="col">Covers</th>
              <th scope="col">Reason</th>
              <th scope="col">Decided by</th>
              <th scope="col">Placed, UTC</th>
              <th scope="col">Kept beyond their period</th>
              {canChange && (
                <th scope="col">
                  <span className="visually-hidden">What to do</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {shown.map((hold) => (
              <tr key={hold.hold_id}>
                <td>
                  <Due at={`${hold.review_on.slice(0, 10)}T23:59:59Z`} isOverdue={hold.review_overdue} />
                </td>
                <td>
                  <Covers hold={hold} />
                </td>
                <td>
                  <Foreign text={hold.reason} />
                </td>
                <td>
                  <Foreign text={hold.approver} />
                </td>
                <td className="numbers">{dateOf(hold.placed_at)}</td>
                <td
                  className="numbers"
                  title="Events that were copied, because they would be deleted without it; what has not expired is kept anyway"
                >
                  {hold.copies === 0 ? "none yet" : countOf(hold.copies, "event")}
                </td>
                {canChange && (
                  <td>
                    <div className="buttons">
                      <ReviewHold hold={hold} />
                      <LiftHold hold={hold} />
                    </div>
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {foot}
    </>
  );
}

function Ended({ holds }: { readonly holds: readonly Hold[] }) {
  const { shown, foot } = useRowLimit(holds);
  return (
    <>
      <div className="table-scroll" tabIndex={0} role="region" aria-label="Ended holds">
        <table className="table wide-table">
          <thead>
            <tr>
              <th scope="col">Ended, UTC</th>
              <th scope="col">Covered</th>
              <th scope="col">Reason</th>
              <th scope="col">Why it ended</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((hold) => (
              <tr key={hold.hold_id}>
                <td className="numbers">{dateOf(hold.lifted_at ?? "")}</td>
                <td>
                  <Covers hold={hold} />
                </td>
                <td>
                  <Foreign text={hold.reason} />
                </td>
                <td>
                  <Foreign text={hold.lift_reason ?? ""} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {foot}
    </>
  );
}
