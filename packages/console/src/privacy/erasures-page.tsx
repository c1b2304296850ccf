import type { Answer } from "@device-risk-signals/admin-api";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Actor } from "../ui/actor.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { ErasePanel } from "./erase-panel.tsx";
import { formText } from "./form-text.ts";
import { useRowLimit } from "./row-limit.tsx";
import { countOf } from "./words.ts";

type Erasure = Answer<"listErasures">["erasures"][number];

/** Erases an account, and lists what was erased. */
export function ErasuresPage() {
  const canRead = useScope("governance.read") !== undefined;
  const { account, reason } = useSearch({ from: "/shell/erasures" });
  const navigate = useNavigate({ from: "/erasures" });
  // Who asked for an approval may load the page again: the same reason finds it.
  const keep = (why: string): void =>
    void navigate({ search: (before) => ({ ...before, reason: why }), replace: true });
  // The browser's history keeps no name of an account that is erased; the page keeps its result.
  const [erased, setErased] = useState<string>();
  const forget = (): void => {
    setErased(account);
    void navigate({ search: {}, replace: true });
  };
  const shown = account ?? erased;
  return (
    <>
      <header className="page-head">
        <h1>Erasures</h1>
        <Link to="/receipts" className="button">
          Verify a receipt
        </Link>
      </header>
      {canRead ? (
        <>
          <AskAccount account={account} isFirst={shown === undefined} />
          {shown !== undefined && (
            <section className="panel" key={shown} aria-labelledby="plan">
              <h2 id="plan">
                Erase <Foreign text={shown} />
              </h2>
              <ErasePanel account={shown} draft={reason} ordered={keep} erased={forget} />
            </section>
          )}
          <List account={account} />
        </>
      ) : (
        <Forbidden permission="governance.read" what="The list of erasures" />
      )}
    </>
  );
}

interface AskProps {
  readonly account: string | undefined;
  /** Whether the page shows no plan and no result. */
  readonly isFirst: boolean;
}

function AskAccount({ account, isFirst }: AskProps) {
  const navigate = useNavigate();
  const show = (submitted: FormEvent<HTMLFormElement>): void => {
    submitted.preventDefault();
    const wanted = formText(new FormData(submitted.currentTarget), "account");
    if (wanted !== undefined) void navigate({ to: "/erasures", search: { account: wanted } });
  };
  return (
    <form className="account-filter" onSubmit={show} key={account}>
      <input
        name="account"
        className="input"
        aria-label="Account to erase"
        placeholder="Account to erase"
        defaultValue={account}
        autoFocus={isFirst}
        maxLength={256}
        autoComplete="off"
        spellCheck={false}
      />
      <button type="submit" className="button">
        Show the plan
      </button>
      <span className="quiet">A plan erases nothing.</span>
    </form>
  );
}

function List({ account }: { readonly account: string | undefined }) {
  const { data, error, refetch } = useRead("listErasures", account === undefined ? {} : { account });
  const erasures = data?.erasures;
  return (
    <section aria-labelledby="erasures">
      <header className="section-head">
        <h2 id="erasures">{account === undefined ? "What was erased" : "Earlier erasures of this account"}</h2>
        {account !== undefined && <Link to="/erasures">Show all</Link>}
      </header>
      {error && <Failure error={error} what="The erasures could not be read" again={() => void refetch()} />}
      {!error && !data && <Skeleton lines={5} />}
      {erasures?.length === 0 && (
        <p className="quiet">
          None. Each erasure stays in this list for ever, without a name, with its counts and its signed receipt.
        </p>
      )}
      {erasures && erasures.length > 0 && <Table erasures={erasures} />}
    </section>
  );
}

const WHAT: Readonly<Record<string, string>> = {
  account: "an account",
  purpose: "an account under one purpose",
  action: "the events of an action",
  event: "one event",
};

function Table({ erasures }: { readonly erasures: readonly Erasure[] }) {
  const { shown, foot } = useRowLimit(erasures);
  return (
    <>
      <div className="table-scroll" tabIndex={0} role="region" aria-label="Erasures, newest first">
        <table className="table wide-table">
          <thead>
            <tr>
              <th scope="col">Began, UTC</th>
              <th scope="col">What</th>
              <th scope="col">Erased</th>
              <th scope="col">Kept by a hold now</th>
              <th scope="col">By</th>
              <th scope="col">Reason</th>
              <th scope="col">Receipt</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((erasure) => (
              <tr key={erasure.erasure_id}>
                <td>
                  <Time at={erasure.began_at} isShort />
                </td>
                <td>{WHAT[erasure.kind] ?? erasure.kind}</td>
                <td className="numbers">{countOf(erasure.events, "event")}</td>
                <td className="numbers">
                  {erasure.still_held === 0 ? "nothing" : countOf(erasure.still_held, "event")}
                </td>
                <td>
                  <Actor text={erasure.actor} />
                </td>
                <td>
                  <Foreign text={erasure.reason} />
                </td>
                <td>
                  {erasure.finished_at === null ? (
                    "not finished"
                  ) : (
                    <Link to="/receipts" search={{ id: erasure.erasure_id }}>
                      Show and verify
                    </Link>
                  )}
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
