import { Link, useParams } from "@tanstack/react-router";
import { call, keyOf, queryClient, useRead } from "../app/api.ts";
import { Forbidden, useScope, useSession } from "../app/session.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { type Approval, deciders, type Named, namedMembers, operationWords, STATES } from "./approval-words.ts";
import { Progress } from "./progress.tsx";
import { useChange } from "./use-change.ts";

/** What another person wants to do, as the plan of the server says it, and the decision about it. */
export function ApprovalPage() {
  const { approvalId } = useParams({ from: "/shell/approvals/$approvalId" });
  const canRead = useScope("approvals.read") !== undefined;
  const { data, error, refetch } = useRead("readApproval", { approval_id: approvalId }, canRead);
  return (
    <article>
      <header className="page-head">
        <div>
          <p className="crumbs">
            <Link to="/approvals">Approvals</Link>
          </p>
          <h1>{data ? operationWords(data.operation) : "Approval"}</h1>
        </div>
      </header>
      {!canRead && <Forbidden permission="approvals.read" what="An approval" />}
      {error && <Failure error={error} what="The approval can't be shown" again={() => void refetch()} />}
      {canRead && !error && !data && <Skeleton lines={6} />}
      {data && <Shown approval={data} />}
    </article>
  );
}

function Shown({ approval }: { readonly approval: Approval }) {
  const { plan, parameters, requested_by, requested_at, expires_at, approved_by, denied_by, state } = approval;
  const withoutReason = namedMembers(parameters).filter(({ name }) => name !== "Reason");
  return (
    <>
      <p className="note">
        <strong>{STATES[state]}</strong>
        {state === "waiting" && (
          <>
            , until <Time at={expires_at} />
          </>
        )}
        {approved_by.length > 0 && (
          <>
            ; approved by <Foreign text={approved_by.join(", ")} />
          </>
        )}
        {denied_by !== null && (
          <>
            ; denied by <Foreign text={denied_by} />
          </>
        )}
      </p>
      <dl className="facts">
        <div>
          <dt>Asked by</dt>
          <dd>
            <Foreign text={requested_by} />
          </dd>
        </div>
        <div>
          <dt>Asked at</dt>
          <dd>
            <Time at={requested_at} />
          </dd>
        </div>
        <div>
          <dt>Reason</dt>
          <dd>
            {approval.reason === null ? (
              <span className="quiet">not shown to your roles</span>
            ) : (
              <Foreign text={approval.reason} />
            )}
          </dd>
        </div>
        {approval.max_events > 0 && (
          <div>
            <dt>Allows at most</dt>
            <dd>{approval.max_events.toLocaleString("en")} events</dd>
          </div>
        )}
      </dl>
      <Members title="What it would do" members={namedMembers(plan)} />
      <Members title="Exactly what is approved" members={withoutReason} />
      <Decide approval={approval} />
    </>
  );
}

function Members({ title, members }: { readonly title: string; readonly members: readonly Named[] }) {
  if (members.length === 0) return null;
  return (
    <section>
      <header className="section-head">
        <h2>{title}</h2>
      </header>
      <dl className="counts">
        {members.map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Foreign text={value} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Decide({ approval }: { readonly approval: Approval }) {
  const { approval_id } = approval;
  const { person, roles } = useSession();
  const canDecide = useScope("approvals.decide") !== undefined;
  const change = useChange(async (route: "approve" | "deny" | "withdrawApproval") => {
    queryClient.setQueryData(keyOf("readApproval", { approval_id }), await call(route, { approval_id }));
    await queryClient.invalidateQueries({ queryKey: ["listApprovals"] });
  });
  if (approval.state !== "waiting") return null;
  if (approval.requested_by === person) {
    return (
      <div className="decision">
        <p>You asked for it: {deciders(approval)} decides.</p>
        <button
          type="button"
          className="button"
          disabled={change.isRunning}
          onClick={() => void change.run("withdrawApproval")}
        >
          Withdraw it
        </button>
        <Progress change={change} failed="It was not withdrawn" />
      </div>
    );
  }
  if (!canDecide || !approval.needed_roles.some((role) => roles.includes(role))) {
    return <p className="note">The decision needs {deciders(approval)}.</p>;
  }
  return (
    <div className="decision">
      <div className="buttons">
        <button
          type="button"
          className="button primary"
          disabled={change.isRunning}
          onClick={() => void change.run("approve")}
        >
          Approve
        </button>
        <button type="button" className="button" disabled={change.isRunning} onClick={() => void change.run("deny")}>
          Deny
        </button>
      </div>
      <Progress change={change} failed="The decision was not recorded" />
    </div>
  );
}
