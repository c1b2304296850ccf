import type { Answer } from "@device-risk-signals/admin-api";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { call } from "../app/api.ts";
import { Forbidden, useScope, useSession } from "../app/session.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { type Approval, operationWords, STATES } from "./approval-words.ts";

const PAGE = 50;

export function ApprovalsPage() {
  const canRead = useScope("approvals.read") !== undefined;
  const list = useInfiniteQuery({
    queryKey: ["listApprovals"],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: after }) => call("listApprovals", { limit: PAGE, ...(after !== undefined && { after }) }),
    getNextPageParam: ({ next }: Answer<"listApprovals">) => next ?? undefined,
    enabled: canRead,
  });
  const approvals = list.data?.pages.flatMap((page) => page.approvals) ?? [];
  return (
    <>
      <header className="page-head">
        <h1>Approvals</h1>
        {canRead && (
          <button type="button" className="button" onClick={() => void list.refetch()}>
            Read again
          </button>
        )}
      </header>
      {!canRead && <Forbidden permission="approvals.read" what="The list of approvals" />}
      {list.error && (
        <Failure error={list.error} what="The approvals could not be read" again={() => void list.refetch()} />
      )}
      {canRead && list.isPending && <Skeleton lines={6} />}
      {list.data && approvals.length === 0 && (
        <div className="empty">
          <h2>No approval was asked for</h2>
          <p className="quiet">
            What removes or hands out much data waits here until another person has seen its plan and approves it, such
            as the erasure of an account with many events.
          </p>
        </div>
      )}
      {approvals.length > 0 && <Table approvals={approvals} />}
      {list.hasNextPage && (
        <footer className="list-foot">
          <button
            type="button"
            className="button"
            disabled={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            Older approvals
          </button>
        </footer>
      )}
    </>
  );
}

function Table({ approvals }: { readonly approvals: readonly Approval[] }) {
  const { person } = useSession();
  return (
    <div className="table-scroll" tabIndex={0} role="region" aria-label="Approvals, newest first">
      <table className="table wide-table linked-table">
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">Asked by</th>
            <th scope="col">Asked at, UTC</th>
            <th scope="col">Needs</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {approvals.map((approval) => (
            <tr key={approval.approval_id}>
              <td>
                <Link to="/approvals/$approvalId" params={{ approvalId: approval.approval_id }} className="row-link">
                  {operationWords(approval.operation)}
                </Link>
              </td>
              <td>
                <Foreign text={approval.requested_by} />
                {approval.requested_by === person && <span className="quiet"> (you)</span>}
              </td>
              <td>
                <Time at={approval.requested_at} isShort />
              </td>
              <td>{approval.needed_roles.join(approval.any_role ? " or " : " and ")}</td>
              <td className={approval.state === "waiting" ? "strong" : undefined}>{STATES[approval.state]}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
