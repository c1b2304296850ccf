import { Link } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { call } from "../app/api.ts";
import { Forbidden, useScope, useSession } from "../app/session.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { ApprovalCard } from "./approval-card.tsx";
import { type Approval, STATES, titleOf } from "./approval-words.ts";

const PAGE = 50;
/** A request waits for 24 hours, so the newest requests have all that wait. */
const NEWEST = 1_000;

export function ApprovalsPage() {
  const scope = useScope("approvals.read");
  const [last, setLast] = useState<Approval>();
  return (
    <>
      <header className="page-head">
        <div>
          <h1>Approvals</h1>
          <p className="quiet">
            What removes or hands out much data waits here until another person has seen its plan.
          </p>
        </div>
      </header>
      {scope === undefined && <Forbidden permission="approvals.read" what="The list of approvals" />}
      {scope === "own" && <p className="note">You see what you asked for yourself.</p>}
      {last && <Decided key={`${last.approval_id} ${last.state}`} approval={last} />}
      {scope !== undefined && (
        <>
          <Waiting decided={setLast} />
          <h2 className="section-head">Decided or ended</h2>
          <Ended />
        </>
      )}
    </>
  );
}

/** Says what was done. It gets the focus, because the button that had it is no longer there. */
function Decided({ approval }: { readonly approval: Approval }) {
  const said = useRef<HTMLParagraphElement>(null);
  useEffect(() => said.current?.focus(), []);
  return (
    <p ref={said} className="note decided" role="status" tabIndex={-1}>
      <Foreign text={titleOf(approval)} />: {STATES[approval.state]}. <Foreign text={approval.requested_by} /> sees it
      here, and by <code>drs approval show</code>.
    </p>
  );
}

function Waiting({ decided }: { readonly decided: (approval: Approval) => void }) {
  const { person } = useSession();
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ["listApprovals", "waiting"],
    queryFn: () => call("listApprovals", { limit: NEWEST }),
  });
  if (error) return <Failure error={error} what="What waits could not be read" again={() => void refetch()} />;
  if (!data) return <Skeleton lines={6} />;
  const waiting = data.approvals
    .filter(({ state }) => state === "waiting")
    .toSorted((a, b) => a.requested_at.localeCompare(b.requested_at));
  return (
    <section aria-labelledby="waiting">
      <header className="section-head">
        <h2 id="waiting">{waiting.length === 0 ? "Nothing waits" : `${waiting.length} waiting, oldest first`}</h2>
        <button type="button" className="button quiet-button" disabled={isFetching} onClick={() => void refetch()}>
          Read again
        </button>
      </header>
      {waiting.length === 0 && (
        <p className="quiet">
          A request appears here when somebody, for example, erases an account with many events, exports features, or
          asks for an admin token. It waits for 24 hours.
        </p>
      )}
      {waiting.map((approval) => (
        <ApprovalCard
          key={approval.approval_id}
          approval={approval}
          decided={decided}
          heading={
            <h3>
              <ApprovalLink approval={approval} />
              {approval.requested_by === person && <span className="tag">yours</span>}
            </h3>
          }
        />
      ))}
    </section>
  );
}

const ApprovalLink = ({ approval }: { readonly approval: Approval }) => (
  <Link to="/approvals/$approvalId" params={{ approvalId: approval.approval_id }}>
    <Foreign text={titleOf(approval)} />
  </Link>
);

function Ended() {
  return (
    <PagedList
      queryKey={["listApprovals", "ended"]}
      noun={["request", "requests"]}
      more="Older requests"
      empty={<p className="quiet">No request was decided yet.</p>}
      read={async (after) => {
        const { approvals, next } = await call("listApprovals", { limit: PAGE, ...(after !== undefined && { after }) });
        return { rows: approvals.filter(({ state }) => state !== "waiting"), next };
      }}
    >
      {(approvals) => (
        <div className="table-scroll" tabIndex={0} role="region" aria-label="Requests, newest first">
          <table className="table table-wide">
            <thead>
              <tr>
                <th scope="col">Asked, UTC</th>
                <th scope="col">What</th>
                <th scope="col">By</th>
                <th scope="col">State</th>
                <th scope="col">Decided by</th>
              </tr>
            </thead>
            <tbody>
              {approvals.map((approval) => (
                <tr key={approval.approval_id}>
                  <td>
                    <Time at={approval.requested_at} isShort />
                  </td>
                  <td>
                    <ApprovalLink approval={approval} />
                  </td>
                  <td>
                    <Foreign text={approval.requested_by} />
                  </td>
                  <td>{STATES[approval.state]}</td>
                  <td>
                    <Foreign text={[...approval.approved_by, approval.denied_by ?? ""].filter(Boolean).join(", ")} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </PagedList>
  );
}
