import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { LiftRestriction } from "./lift-restriction.tsx";
import { RestrictForm } from "./restrict-form.tsx";
import { useRowLimit } from "./row-limit.tsx";
import { dateOf, type Restriction } from "./words.ts";

export function RestrictionsPage() {
  const canRead = useScope("governance.read") !== undefined;
  const canChange = useScope("governance.change") !== undefined;
  const [isPlacing, setPlacing] = useState(false);
  const { data, error, refetch } = useRead("listRestrictions", {}, canRead);
  return (
    <>
      <header className="page-head">
        <div>
          <h1>Restrictions and objections</h1>
          <p className="quiet">The events of these accounts are kept, but analysts do not see them.</p>
        </div>
        {canChange && (
          <button type="button" className="button" onClick={() => setPlacing(true)}>
            Restrict an account
          </button>
        )}
      </header>
      {isPlacing && (
        <Dialog title="Restrict an account" close={() => setPlacing(false)}>
          <RestrictForm restricted={() => setPlacing(false)} />
        </Dialog>
      )}
      {!canRead && <Forbidden permission="governance.read" what="The list of restrictions" />}
      {error && <Failure error={error} what="The restrictions could not be read" again={() => void refetch()} />}
      {canRead && !error && !data && <Skeleton lines={6} />}
      {data?.restrictions.length === 0 && (
        <div className="empty">
          <h2>No restrictions</h2>
          <p className="quiet">
            When a person disputes their data or objects, <Link to="/requests">register the request</Link>: its page
            excludes the data from analysis.
          </p>
        </div>
      )}
      {data && data.restrictions.length > 0 && <Table restrictions={data.restrictions} />}
    </>
  );
}

function Table({ restrictions }: { readonly restrictions: readonly Restriction[] }) {
  const { shown, foot } = useRowLimit(restrictions);
  const canChange = useScope("governance.change") !== undefined;
  return (
    <>
      <div className="table-scroll" tabIndex={0} role="region" aria-label="Restrictions, active ones first">
        <table className="table wide-table">
          <thead>
            <tr>
              <th scope="col">Placed, UTC</th>
              <th scope="col">Account</th>
              <th scope="col">Kind</th>
              <th scope="col">For</th>
              <th scope="col">Reason</th>
              <th scope="col">Decided by</th>
              <th scope="col">State</th>
              {canChange && (
                <th scope="col">
                  <span className="visually-hidden">What to do</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {shown.map((restriction) => (
              <Row key={restriction.restriction_id} restriction={restriction} canChange={canChange} />
            ))}
          </tbody>
        </table>
      </div>
      {foot}
    </>
  );
}

function Row({ restriction, canChange }: { readonly restriction: Restriction; readonly canChange: boolean }) {
  const { account, article, purpose, reason, approver, request_id, placed_at, active } = restriction;
  return (
    <tr>
      <td className="numbers">{dateOf(placed_at)}</td>
      <td>{account === null ? <span className="quiet">erased or unknown</span> : <Foreign text={account} />}</td>
      <td>
        {article === 21 ? "objection" : "restriction"} (article {article})
      </td>
      <td>{purpose === null ? "all purposes" : <Foreign text={purpose} />}</td>
      <td>
        <Foreign text={reason} />
      </td>
      <td>
        {request_id === null ? (
          <Foreign text={approver ?? "unknown"} />
        ) : (
          <Link to="/requests/$requestId" params={{ requestId: request_id }}>
            its request
          </Link>
        )}
      </td>
      <td>{stateOf(restriction)}</td>
      {canChange && <td>{active && <LiftRestriction restriction={restriction} />}</td>}
    </tr>
  );
}

function stateOf({ active, erased, lifted_at, informed_on }: Restriction): string {
  if (active) return "active";
  if (erased) return "ended by an erasure";
  const informed = informed_on === null ? "" : `, the person was informed on ${dateOf(informed_on)}`;
  return `ended ${lifted_at === null ? "" : dateOf(lifted_at)}${informed}`;
}
