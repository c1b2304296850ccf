import type { Answer } from "@device-risk-signals/admin-api";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useRead } from "../app/api.ts";
import { useScope } from "../app/session.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { PERIODS } from "./audit-search.ts";
import type { EntriesSearch } from "./entries-search.ts";
import { personOf, wayOf, wordsOfOperation } from "./operation-words.ts";

type Report = Answer<"reviewReads">;

const DAY_MS = 86_400_000;
/** The report has at most so many rows of each list. */
const LIMIT = 1_000;

export function Reads({ days }: { readonly days: number }) {
  const navigate = useNavigate({ from: "/audit" });
  const isOwn = useScope("audit.read") === "own";
  // The start stays the same while the page is open, so that the same report is not read twice.
  const [now] = useState(Date.now);
  const since = new Date(now - days * DAY_MS).toISOString();
  const { data, error, refetch } = useRead("reviewReads", { since });
  return (
    <section aria-labelledby="reads">
      <header className="section-head">
        <h2 id="reads">Who opened events, and used the database itself</h2>
        <div className="segments" role="group" aria-label="Period">
          {PERIODS.map((period) => (
            <button
              key={period}
              type="button"
              aria-pressed={period === days}
              onClick={() => void navigate({ search: (before) => ({ ...before, days: period }), replace: true })}
            >
              {period === 1 ? "1 day" : `${period} days`}
            </button>
          ))}
        </div>
      </header>
      {isOwn && <p className="note">You see what you did yourself. The role auditor sees all.</p>}
      {error && <Failure error={error} what="The report could not be read" again={() => void refetch()} />}
      {!error && !data && <Skeleton lines={6} />}
      {data && <Shown report={data} />}
    </section>
  );
}

function Shown({ report }: { readonly report: Report }) {
  const { reads, unverified_entries, repeated_reasons, unused_cases, since } = report;
  return (
    <>
      {unverified_entries > 0 && (
        <p className="failure" role="alert">
          {unverified_entries.toLocaleString("en")} {unverified_entries === 1 ? "entry was" : "entries were"} inserted
          by a login of the database, and not written by the server: no person's acts. Verify the log, which names them.
        </p>
      )}
      {reads.length === 0 ? (
        <p className="quiet">
          Nobody opened an event since <Time at={since} />. A line appears here for each person, operation and ticket.
        </p>
      ) : (
        <ReadTable reads={reads} since={since} />
      )}
      {repeated_reasons.length > 0 && <Repeated reasons={repeated_reasons} since={since} />}
      {unused_cases.length > 0 && <Unused cases={unused_cases} />}
    </>
  );
}

const searchOf = ({ person, operation }: Report["reads"][number], since: string): EntriesSearch => ({
  person: personOf(person),
  operation,
  from: since,
});

const ReadTable = ({ reads, since }: { readonly reads: Report["reads"]; readonly since: string }) => (
  <div className="table-scroll" tabIndex={0} role="region" aria-label="Reads, the most first">
    <table className="table table-wide reads-table">
      <thead>
        <tr>
          <th scope="col">Who</th>
          <th scope="col">What</th>
          <th scope="col">Ticket</th>
          <th scope="col">Kind of case</th>
          <th scope="col" className="number">
            Times
          </th>
          <th scope="col" className="number">
            Events
          </th>
          <th scope="col" className="number">
            Accounts
          </th>
          <th scope="col">How</th>
        </tr>
      </thead>
      <tbody>
        {reads.map((read) => {
          const { person, via, operation, category, ticket, entries, events, accounts, unchecked } = read;
          return (
            <tr key={JSON.stringify([person, via, operation, category, ticket])}>
              <td>
                <Foreign text={personOf(person)} />
              </td>
              <td>
                <Link to="/audit/entries" search={searchOf(read, since)} className="row-link">
                  {wordsOfOperation(operation) ?? <Foreign text={operation} isCode />}
                </Link>
              </td>
              <td>{ticket === null ? <span className="quiet">none</span> : <Foreign text={ticket} />}</td>
              <td>{category ?? <span className="quiet">none</span>}</td>
              <td className="number">
                {entries.toLocaleString("en")}
                {unchecked > 0 && <span className="tag">{unchecked} not yet checked</span>}
              </td>
              <td className="number">{events.toLocaleString("en")}</td>
              <td className="number">{accounts.toLocaleString("en")}</td>
              <td className={via === "direct" ? "warn" : "quiet"}>{wayOf(via)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
    {reads.length === LIMIT && (
      <p className="quiet">Only the first {LIMIT.toLocaleString("en")} lines: choose a shorter period.</p>
    )}
  </div>
);

interface RepeatedProps {
  readonly reasons: Report["repeated_reasons"];
  readonly since: string;
}

const Repeated = ({ reasons, since }: RepeatedProps) => (
  <section>
    <h3 className="list-title">One reason for several cases</h3>
    <ul className="plain-list">
      {reasons.map(({ person, reason, cases }) => (
        <li key={JSON.stringify([person, reason])}>
          <Link to="/audit/entries" search={{ person, operation: "case.open", from: since }}>
            <Foreign text={person} />: {cases.toLocaleString("en")} cases
          </Link>{" "}
          <Foreign text={reason} />
        </li>
      ))}
    </ul>
  </section>
);

const Unused = ({ cases }: { readonly cases: Report["unused_cases"] }) => (
  <section>
    <h3 className="list-title">Cases under which nothing was opened</h3>
    <ul className="plain-list">
      {cases.map(({ case_id, person, category, ticket, opened_at }) => (
        <li key={case_id}>
          <Time at={opened_at} isShort /> <Foreign text={person} />, {category}{" "}
          {ticket !== null && <Foreign text={ticket} />}
        </li>
      ))}
    </ul>
  </section>
);
