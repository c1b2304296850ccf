import type { AdminRequestError } from "@device-risk-signals/admin-api/client";
import { useQuery } from "@tanstack/react-query";
import { call } from "../app/api.ts";
import { BASE_URL } from "../app/base.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { type Approval, deciders } from "../access/approval-words.ts";

const POLL_MS = 5_000;

interface WaitProps {
  readonly error: AdminRequestError;
  readonly again: () => void;
}

/** What the person does while another person decides; it notices the decision by itself. */
export function WaitForApproval({ error, again }: WaitProps) {
  const id = error.problem?.approval_id;
  // The number of events has changed since the plan: asking again creates the approval.
  if (id === undefined) return <Failure error={error} what="This now needs an approval" again={again} />;
  return <Waiting id={id} again={again} />;
}

function Waiting({ id, again }: { readonly id: string; readonly again: () => void }) {
  const { data, error, refetch } = useQuery<Approval>({
    queryKey: ["waits-for", id],
    queryFn: () => call("readApproval", { approval_id: id }),
    refetchInterval: ({ state }) => (state.data === undefined || state.data.state === "waiting" ? POLL_MS : false),
    refetchOnWindowFocus: true,
  });
  if (error) return <Failure error={error} what="The approval can't be read" again={() => void refetch()} />;
  if (!data) return <Skeleton lines={3} />;
  return <Decision approval={data} again={again} />;
}

function Decision({ approval, again }: { readonly approval: Approval; readonly again: () => void }) {
  const link = `${BASE_URL}/approvals/${approval.approval_id}`;
  if (approval.state === "waiting") {
    return (
      <div className="next-step" role="status">
        <h3>Next: another person approves</h3>
        <p>
          Send this link to {deciders(approval)}. They see what would be done and decide until{" "}
          <Time at={approval.expires_at} />. This page notices it by itself; nothing happens until then.
        </p>
        <p className="mono foreign">{link}</p>
        <CopyButton text={link} label="Copy the link" />
      </div>
    );
  }
  if (approval.state === "approved") {
    return (
      <div className="next-step" role="status">
        <h3>
          Approved by <Foreign text={approval.approved_by.join(" and ")} />
        </h3>
        <p>The approval allows exactly what you asked for, once, within an hour.</p>
        <button type="button" className="button primary" onClick={again}>
          Go on
        </button>
      </div>
    );
  }
  return (
    <div className="failure" role="alert">
      <p>
        <strong>Not approved.</strong>{" "}
        {approval.denied_by === null ? (
          `The approval is ${approval.state}.`
        ) : (
          <>
            Denied by <Foreign text={approval.denied_by} />.
          </>
        )}
      </p>
      <button type="button" className="button" onClick={again}>
        Ask again
      </button>
    </div>
  );
}
