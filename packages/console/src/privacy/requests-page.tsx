import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Due } from "./due.tsx";
import { formText } from "./form-text.ts";
import { RegisterRequest } from "./register-request.tsx";
import { isOpen } from "./is-open.ts";
import { useRowLimit } from "./row-limit.tsx";
import { type DataRequest, dateOf, KINDS, stateOf } from "./words.ts";

export function RequestsPage() {
  const canRead = useScope("governance.read") !== undefined;
  const canChange = useScope("governance.change") !== undefined;
  const { account } = useSearch({ from: "/shell/requests" });
  const [isRegistering, setRegistering] = useState(false);
  const { data, error, refetch } = useRead("listRequests", account === undefined ? {} : { account }, canRead);
  return (
    <>
      <header className="page-head">
        <h1>Requests of people</h1>
        {canChange && (
          <button type="button" className="button primary" onClick={() => setRegistering(true)}>
            Register a request
          </button>
        )}
      </header>
      {!canRead && <Forbidden permission="governance.read" what="The list of requests" />}
      {isRegistering && <RegisterRequest account={account} close={() => setRegistering(false)} />}
      {canRead && <AccountFilter account={account} />}
      {error && <Failure error={error} what="The requests could not be read" again={() => void refetch()} />}
      {canRead && !error && !data && <Skeleton lines={6} />}
      {data && <Lists requests={data.requests} account={account} />}
    </>
  );
}

function AccountFilter({ account }: { readonly account: string | undefined }) {
  const navigate = useNavigate();
  const filter = (submitted: FormEvent<HTMLFormElement>): void => {
    submitted.preventDefault();
    const wanted = formText(new FormData(submitted.currentTarget), "account");
    void navigate({ to: "/requests", search: wanted === undefined ? {} : { account: wanted } });
  };
  return (
    <form className="account-filter" onSubmit={filter} key={account}>
      <input
        name="account"
        className="input"
        aria-label="Account"
        placeholder="Account, also of closed requests"
        defaultValue={account}
        maxLength={256}
        autoComplete="off"
        spellCheck={false}
      />
      <button type="submit" className="button">
        Find
      </button>
      {account !== undefined && (
        <Link to="/requests" className="button quiet-button">
          Show all
        </Link>
      )}
    </form>
  );
}

interface ListsProps {
  readonly requests: readonly DataRequest[];
  readonly account: string | undefined;
}

const byDueDate = (a: DataRequest, b: DataRequest): number => a.due_at.localeCompare(b.due_at);

function Lists({ requests, account }: ListsProps) {
  const open = requests.filter(isOpen).toSorted(byDueDate);
  const closed = requests
    .filter((request) => !isOpen(request))
    .toSorted((a, b) => (b.closed_at ?? "").localeCompare(a.closed_at ?? ""));
  if (requests.length === 0) return <NoRequests account={account} />;
  const overdue = open.filter((request) => request.overdue).length;
  return (
    <>
      <header className="section-head">
        <h2>Open</h2>
        <span className={overdue > 0 ? "overdue" : "quiet"}>
          {open.length === 0 ? "none" : `${open.length} in all, ${overdue === 0 ? "none" : overdue} overdue`}
        </span>
      </header>
      {open.length > 0 && <Table requests={open} label="Open requests, first the one that is due first" when="Due" />}
      {closed.length > 0 && (
        <>
          <header className="section-head">
            <h2>Closed</h2>
            <span className="quiet">The name of the account was deleted when the request was closed.</span>
          </header>
          <Table requests={closed} label="Closed requests, newest first" when="Closed, UTC" />
        </>
      )}
    </>
  );
}

const NoRequests = ({ account }: { readonly account: string | undefined }) => (
  <div className="empty">
    <h2>{account === undefined ? "No requests yet" : "No request of this account"}</h2>
    <p className="quiet">
      Register each request of a person here on the day it arrives. It is then due one month after it was received, and
      its page leads through the steps: what is stored, the erasure or the export, the proof, and the end.
    </p>
  </div>
);

interface TableProps {
  readonly requests: readonly DataRequest[];
  readonly label: string;
  /** The heading of the first column. */
  readonly when: string;
}

function Table({ requests, label, when }: TableProps) {
  const { shown, foot } = useRowLimit(requests);
  return (
    <>
      <div className="table-scroll" tabIndex={0} role="region" aria-label={label}>
        <table className="table wide-table linked-table">
          <thead>
            <tr>
              <th scope="col">{when}</th>
              <th scope="col">Asks for</th>
              <th scope="col">Account</th>
              <th scope="col">Received, UTC</th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((request) => (
              <tr key={request.request_id}>
                <td>
                  <Link to="/requests/$requestId" params={{ requestId: request.request_id }} className="row-link">
                    {request.closed_at === null ? (
                      <Due at={request.due_at} isOverdue={request.overdue} />
                    ) : (
                      <span className="numbers">{dateOf(request.closed_at)}</span>
                    )}
                  </Link>
                </td>
                <td>{KINDS[request.kind]}</td>
                <td>
                  {request.account === null ? (
                    <span className="quiet">deleted</span>
                  ) : (
                    <Foreign text={request.account} />
                  )}
                </td>
                <td className="numbers">{dateOf(request.received_at)}</td>
                <td>{stateOf(request)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {foot}
    </>
  );
}
