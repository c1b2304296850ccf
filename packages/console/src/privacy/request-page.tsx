import type { Answer } from "@device-risk-signals/admin-api";
import { Link, useParams } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { CloseRequest } from "./close-request.tsx";
import { Due } from "./due.tsx";
import { ErasePanel, type Erased } from "./erase-panel.tsx";
import { ExportPanel } from "./export-panel.tsx";
import { ExtendRequest } from "./extend-request.tsx";
import { formText } from "./form-text.ts";
import { Receipt } from "./receipt.tsx";
import { RestrictForm } from "./restrict-form.tsx";
import { TellPerson } from "./tell-person.tsx";
import { ARTICLES, type DataRequest, dateOf, KINDS, stateOf } from "./words.ts";

/** A request, with its steps in the order of the runbook; of a closed one, the proof. */
export function RequestPage() {
  const { requestId } = useParams({ from: "/shell/requests/$requestId" });
  const canRead = useScope("governance.read") !== undefined;
  const { data, error, refetch } = useRead("listRequests", {}, canRead);
  const request = data?.requests.find(({ request_id }) => request_id === requestId);
  return (
    <article>
      <header className="page-head">
        <div>
          <p className="crumbs">
            <Link to="/requests">Requests of people</Link>
          </p>
          <h1>{request ? <Title request={request} /> : "Request"}</h1>
        </div>
      </header>
      {!canRead && <Forbidden permission="governance.read" what="A request" />}
      {error && <Failure error={error} what="The request can't be shown" again={() => void refetch()} />}
      {canRead && !error && !data && <Skeleton lines={6} />}
      {data && !request && (
        <p className="note">
          There is no such request. <Link to="/requests">See all requests</Link>
        </p>
      )}
      {request && (
        <>
          <Head request={request} />
          {request.closed_at === null && request.account !== null ? (
            <Steps key={requestId} request={request} account={request.account} />
          ) : (
            <Proof request={request} />
          )}
        </>
      )}
    </article>
  );
}

const Title = ({ request: { kind, account } }: { readonly request: DataRequest }) => (
  <>
    {KINDS[kind]}{" "}
    {account !== null && (
      <>
        for <Foreign text={account} />
      </>
    )}
  </>
);

function Head({ request }: { readonly request: DataRequest }) {
  const { kind, received_at, due_at, overdue, closed_at, identity, extension_ground, ground } = request;
  return (
    <dl className="facts">
      <div>
        <dt>{closed_at === null ? "Deadline" : "Closed"}</dt>
        <dd>
          {closed_at === null ? <Due at={due_at} isOverdue={overdue} /> : <Time at={closed_at} />}
          {closed_at === null && extension_ground === null && <ExtendRequest request={request} />}
        </dd>
      </div>
      {closed_at !== null && (
        <div>
          <dt>Was due</dt>
          <dd>
            <span className="numbers">{dateOf(due_at)}</span>, closed{" "}
            {closed_at > due_at ? <span className="overdue">late</span> : "in time"}
          </dd>
        </div>
      )}
      <div>
        <dt>Received</dt>
        <dd>
          <Time at={received_at} />
        </dd>
      </div>
      <div>
        <dt>Asks for</dt>
        <dd>
          {KINDS[kind]}, article {ARTICLES[kind]} of the GDPR
        </dd>
      </div>
      <div>
        <dt>Identity</dt>
        <dd>{identity === null ? "not checked yet" : <Foreign text={identity} />}</dd>
      </div>
      <div>
        <dt>State</dt>
        <dd>{stateOf(request)}</dd>
      </div>
      {extension_ground !== null && (
        <div>
          <dt>Extended by two months</dt>
          <dd>
            <Foreign text={extension_ground} />
          </dd>
        </div>
      )}
      {ground !== null && (
        <div>
          <dt>Reason of the refusal</dt>
          <dd>
            <Foreign text={ground} />
          </dd>
        </div>
      )}
    </dl>
  );
}

interface StepsProps {
  readonly request: DataRequest;
  readonly account: string;
}

function Steps({ request, account }: StepsProps) {
  const { kind } = request;
  if (kind === "erasure") return <ErasureSteps request={request} account={account} />;
  if (kind === "access" || kind === "portability") return <ExportSteps request={request} account={account} />;
  return <OtherSteps request={request} account={account} />;
}

/** An erasure that a person began before this page was opened again. */
const erasureSince = (
  erasures: Answer<"listErasures">["erasures"] | undefined,
  { received_at }: DataRequest,
): { readonly id: string; readonly stillHeld: number } | undefined => {
  const found = erasures?.find(({ began_at, finished_at }) => began_at >= received_at && finished_at !== null);
  return found && { id: found.erasure_id, stillHeld: found.still_held };
};

const ERASE = "See the plan, and erase";
const EXPORT = "Export what is stored";
const RESTRICT = "Exclude the data from analysis";

interface CheckIdentityProps {
  readonly checked: string | undefined;
  readonly check: (how: string) => void;
}

/** The first step of what can't be undone. The end of the request records how the identity was checked. */
function CheckIdentity({ checked, check }: CheckIdentityProps) {
  const submit = (submitted: FormEvent<HTMLFormElement>): void => {
    submitted.preventDefault();
    const how = formText(new FormData(submitted.currentTarget), "identity");
    if (how !== undefined) check(how);
  };
  return (
    <Step name="Check the identity" isDone={checked !== undefined}>
      {checked === undefined ? (
        <form className="form order" onSubmit={submit}>
          <label>
            How you checked the identity
            <input name="identity" className="input" required maxLength={1_000} />
            <span className="hint">
              Such as: signed in, code by mail. Write no name. It is recorded when you close the request.
            </span>
          </label>
          <button type="submit" className="button">
            The identity is checked
          </button>
        </form>
      ) : (
        <p>
          <Foreign text={checked} />
        </p>
      )}
    </Step>
  );
}

function ErasureSteps({ request, account }: StepsProps) {
  const { data } = useRead("listErasures", { account });
  const [now, setNow] = useState<Erased>();
  const before = erasureSince(data?.erasures, request);
  const erasure = now?.erasure ? { id: now.erasure.erasure_id, stillHeld: now.still_held } : before;
  const [checked, setChecked] = useState<string>();
  const isChecked = request.identity !== null || checked !== undefined;
  return (
    <ol className="steps">
      {request.identity === null && <CheckIdentity checked={checked} check={setChecked} />}
      <Step name={ERASE} isDone={erasure !== undefined}>
        {before && !now ? (
          <Stored id={before.id} />
        ) : !isChecked ? (
          <p className="quiet">An erasure can't be undone: first check who asks for it.</p>
        ) : (
          <ErasePanel account={account} reason={`request ${request.request_id}`} erased={setNow} />
        )}
      </Step>
      <Step name="Tell the person" isDone={false}>
        {erasure ? (
          <TellPerson request={request} erasureId={erasure.id} stillHeld={erasure.stillHeld} />
        ) : (
          <p className="quiet">The text to begin with is here when the account is erased.</p>
        )}
      </Step>
      <Step name="Close the request" isDone={false}>
        <CloseRequest
          request={request}
          identity={checked}
          before={ERASE}
          erasureId={erasure?.id}
          isHeld={(erasure?.stillHeld ?? 0) > 0}
        />
      </Step>
    </ol>
  );
}

function ExportSteps({ request, account }: StepsProps) {
  const [exportId, setExportId] = useState<string>();
  const [checked, setChecked] = useState<string>();
  const isChecked = request.identity !== null || checked !== undefined;
  return (
    <ol className="steps">
      {request.identity === null && <CheckIdentity checked={checked} check={setChecked} />}
      <Step name={EXPORT} isDone={exportId !== undefined}>
        {isChecked ? (
          <ExportPanel account={account} requestId={request.request_id} exported={setExportId} />
        ) : (
          <p className="quiet">The package has all about a person: first check who asks for it.</p>
        )}
      </Step>
      <Step name="Read it, complete the letter, hand it over" isDone={false}>
        <p>
          The letter needs what only you know: the authority for complaints, transfers to other countries, decisions by
          machines. For portability the files of the events are enough.
        </p>
      </Step>
      <Step name="Close the request" isDone={false}>
        <CloseRequest request={request} identity={checked} before={EXPORT} exportId={exportId} />
      </Step>
    </ol>
  );
}

function OtherSteps({ request, account }: StepsProps) {
  const { kind } = request;
  const [isRestricted, setRestricted] = useState(request.restriction_id !== null);
  return (
    <ol className="steps">
      {kind === "rectification" ? (
        <Step name="Correct it in your own system" isDone={false}>
          <p>
            What a phone reported is never changed here. If it is wrong about the person, correct what your own system
            made of it, or restrict it until that is clear.
          </p>
        </Step>
      ) : (
        <Step name={RESTRICT} isDone={isRestricted}>
          {isRestricted ? (
            <p>Analysts see no event of this account any more, neither stored ones nor later ones.</p>
          ) : (
            <RestrictForm
              account={account}
              article={kind === "objection" ? 21 : 18}
              requestId={request.request_id}
              restricted={() => setRestricted(true)}
            />
          )}
        </Step>
      )}
      <Step name="Tell the person" isDone={false}>
        {isRestricted || kind === "rectification" ? (
          <TellPerson request={request} erasureId={undefined} stillHeld={0} />
        ) : (
          <p className="quiet">The text to begin with is here when the data are excluded.</p>
        )}
      </Step>
      <Step name="Close the request" isDone={false}>
        <CloseRequest request={request} {...(kind !== "rectification" && { before: RESTRICT })} />
      </Step>
    </ol>
  );
}

interface StepProps {
  readonly name: string;
  readonly isDone: boolean;
  readonly children: ReactNode;
}

const Step = ({ name, isDone, children }: StepProps) => (
  <li className="step">
    <h2>
      {name} {isDone && <span className="step-done">✓ done</span>}
    </h2>
    {children}
  </li>
);

function Stored({ id }: { readonly id: string }) {
  const { data, error, refetch } = useRead("readReceipt", { id });
  if (error) return <Failure error={error} what="The receipt can't be shown" again={() => void refetch()} />;
  return data ? <Receipt text={data.receipt} /> : <Skeleton lines={6} />;
}

/** What an auditor opens: what answered the request, and its signed receipt. */
function Proof({ request }: { readonly request: DataRequest }) {
  const { erasure_id, export_id, restriction_id, completable, received_at, closed_at } = request;
  const canReadLog = useScope("audit.read") !== undefined;
  return (
    <section aria-labelledby="proof">
      <header className="section-head">
        <h2 id="proof">Proof</h2>
      </header>
      {export_id !== null && (
        <p>
          Answered by the export <span className="mono foreign">{export_id}</span>.{" "}
          {canReadLog ? (
            <Link
              to="/audit/entries"
              search={{ operation: "account.export", from: received_at, ...(closed_at !== null && { to: closed_at }) }}
            >
              See its entry in the audit log, with its proof
            </Link>
          ) : (
            "The audit log has its entry, which the role auditor sees."
          )}
        </p>
      )}
      {restriction_id !== null && (
        <p>
          Answered by the restriction <span className="mono foreign">{restriction_id}</span>:{" "}
          <Link to="/restrictions">see restrictions</Link>.
        </p>
      )}
      {erasure_id !== null && <Stored id={erasure_id} />}
      {erasure_id === null && export_id === null && restriction_id === null && (
        <p className="quiet">Nothing had to answer it: it was refused, or nothing was stored of the account.</p>
      )}
      {completable && <CloseRequest request={request} erasureId={erasure_id ?? undefined} />}
    </section>
  );
}
