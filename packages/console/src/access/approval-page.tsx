import { Link, useParams } from "@tanstack/react-router";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope, useSession } from "../app/session.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { ApprovalCard } from "./approval-card.tsx";
import { titleOf } from "./approval-words.ts";

/** One request, for the link that its person sends to who decides. */
export function ApprovalPage() {
  const { approvalId } = useParams({ from: "/shell/approvals/$approvalId" });
  const { person } = useSession();
  const scope = useScope("approvals.read");
  const { data, error, refetch } = useRead("readApproval", { approval_id: approvalId }, scope !== undefined);
  return (
    <>
      <header className="page-head">
        <div>
          <p className="crumbs">
            <Link to="/approvals">Approvals</Link>
          </p>
          <h1>{data ? <Foreign text={titleOf(data)} /> : "Approval"}</h1>
        </div>
      </header>
      {scope === undefined && <Forbidden permission="approvals.read" what="An approval" />}
      {error && <Failure error={error} what="The approval can't be shown" again={() => void refetch()} />}
      {scope !== undefined && !error && !data && <Skeleton lines={6} />}
      {data && <ApprovalCard approval={data} heading={<h2>The request</h2>} decided={() => undefined} />}
      {data?.state === "approved" && data.requested_by === person && (
        <p className="note">
          Return to the page where you asked. If it is closed, ask there again with the same reason: it is done at once.
        </p>
      )}
    </>
  );
}
