import type { Answer, Event } from "@device-risk-signals/admin-api";
import { Link } from "@tanstack/react-router";
import type { ReactElement, ReactNode } from "react";
import { useRead } from "../app/api.ts";
import { useScope, useSession } from "../app/session.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { PageHead } from "../ui/page-head.tsx";
import { relative, Time } from "../ui/time.tsx";
import { startOf } from "../ui/days.tsx";
import { isOpen } from "../privacy/is-open.ts";
import { dateOf, dueWords } from "../privacy/words.ts";
import { WorkList } from "./work-list.tsx";

const TAIL = 10;
/** A case that ends within an hour. */
const SOON_MS = 3_600_000;

/** What waits for the person, and what happened last; each role sees its own. */
export function OverviewPage() {
  const { person, name } = useSession();
  return (
    <>
      <PageHead title="Overview" what={`What waits for you, ${name ?? person}, and what happened last.`} />
      <div className="tiles">
        <Approvals />
        <Requests />
        <Cases />
        <Reviews />
        <Rejected />
        <Findings />
      </div>
      <WorkList />
      <LastEvents />
    </>
  );
}

interface TileProps {
  /** Its name, as the link to what it counts. */
  readonly name: ReactElement;
  readonly value: number | string;
  readonly more?: ReactNode;
  readonly isUrgent?: boolean;
  readonly error: unknown;
}

const Tile = ({ name, value, more, isUrgent = false, error }: TileProps) => (
  <section className={isUrgent ? "tile urgent" : "tile"}>
    <h2>{name}</h2>
    {error ? (
      <p className="quiet">could not be read</p>
    ) : (
      <p className={value === 0 ? "tile-value numbers quiet" : "tile-value numbers"}>{value}</p>
    )}
    {more && <p className="quiet small">{more}</p>}
  </section>
);

const LOADING = "…";

function Approvals() {
  const { person, roles } = useSession();
  const scope = useScope("approvals.read");
  const { data, error } = useRead("listApprovals", { limit: 100 }, scope !== undefined);
  if (scope === undefined) return null;
  const given = data?.approvals.filter(
    ({ state, requested_by, obtained_by, needed_roles }) =>
      state === "waiting" &&
      requested_by !== person &&
      obtained_by !== person &&
      roles.some((role) => needed_roles.includes(role)),
  );
  return (
    <Tile
      name={<Link to="/approvals">Approvals to give</Link>}
      value={given?.length ?? LOADING}
      isUrgent={(given?.length ?? 0) > 0}
      error={error}
    />
  );
}

function Requests() {
  const scope = useScope("governance.read");
  const { data, error } = useRead("listRequests", {}, scope !== undefined);
  if (scope === undefined) return null;
  const open = data?.requests.filter(isOpen);
  const overdue = open?.filter((request) => request.overdue).length;
  const next = open?.filter((request) => request.closed_at === null && !request.overdue);
  const [first] = (next ?? []).map(({ due_at }) => due_at).toSorted();
  return (
    <Tile
      name={<Link to="/requests">Overdue requests</Link>}
      value={overdue ?? LOADING}
      isUrgent={(overdue ?? 0) > 0}
      more={
        open && `${open.length} open${first === undefined ? "" : `, the next ${dueWords(first)} (${dateOf(first)})`}`
      }
      error={error}
    />
  );
}

function Cases() {
  const { person } = useSession();
  const scope = useScope("cases.use");
  const { data, error } = useRead("listCases", { open: true, limit: 100 }, scope !== undefined);
  if (scope === undefined) return null;
  const own = data?.cases.filter(({ opened_by }) => opened_by === person);
  const ending = own?.filter(({ expires_at }) => Date.parse(expires_at) < Date.now() + SOON_MS) ?? [];
  return (
    <Tile
      name={
        <Link to="/access/cases" search={{ open: true }}>
          Your open cases
        </Link>
      }
      value={own?.length ?? LOADING}
      more={
        ending.length > 0
          ? `the next ends ${relative(ending.map((one) => one.expires_at).toSorted()[0] ?? "")}`
          : undefined
      }
      error={error}
    />
  );
}

function Reviews() {
  const scope = useScope("audit.review");
  const { data, error } = useRead("listReviews", {}, scope !== undefined);
  if (scope === undefined) return null;
  return (
    <Tile
      name={<Link to="/audit/reviews">Open audit reviews</Link>}
      value={data?.reviews.length ?? LOADING}
      isUrgent={(data?.reviews.length ?? 0) > 0}
      error={error}
    />
  );
}

const sumOf = ({ rejections }: Answer<"summarizeRejections">): number =>
  rejections.reduce((sum, { occurrences }) => sum + occurrences, 0);

function Rejected() {
  const scope = useScope("counters.read");
  const { data, error } = useRead("summarizeRejections", { from: startOf(1) }, scope !== undefined);
  if (scope === undefined) return null;
  const [first] = data?.rejections ?? [];
  return (
    <Tile
      name={
        <Link to="/rejections" search={{ days: 1 }}>
          Rejected in 24 hours
        </Link>
      }
      value={data ? sumOf(data).toLocaleString("en") : LOADING}
      more={first && `most often ${first.problem}`}
      error={error}
    />
  );
}

function Findings() {
  const scope = useScope("health.read");
  const { data, error } = useRead("readHealth", {}, scope !== undefined);
  if (scope === undefined) return null;
  const failed = data?.findings.filter(({ ok }) => !ok);
  return (
    <Tile
      name={<Link to="/health">Health</Link>}
      value={failed ? (failed.length === 0 ? "in order" : `${failed.length} to do now`) : LOADING}
      isUrgent={(failed?.length ?? 0) > 0}
      more={failed?.[0]?.what}
      error={error}
    />
  );
}

function LastEvents() {
  const scope = useScope("events.list");
  const { data, error, refetch } = useRead("listEvents", { limit: TAIL }, scope !== undefined);
  if (scope === undefined) return null;
  return (
    <section aria-labelledby="last">
      <div className="section-head">
        <h2 id="last">The last events</h2>
        {data?.events[0] && (
          <span className="quiet">the newest {relative(data.events[0].received_at)}; times in UTC</span>
        )}
        {data && (
          <button type="button" className="button quiet-button" onClick={() => void refetch()}>
            Look again
          </button>
        )}
      </div>
      {error && <Failure error={error} what="The events could not be read" again={() => void refetch()} />}
      {data?.events.length === 0 && (
        <p>
          No event yet. The start of the server prints a request to paste; its event appears here when you look again.
        </p>
      )}
      {data && data.events.length > 0 && <Tail events={data.events} />}
    </section>
  );
}

const Tail = ({ events }: { readonly events: readonly Event[] }) => (
  <div className="table-scroll" tabIndex={0} role="region" aria-label="Events, newest first">
    <table className="table events-table">
      <thead>
        <tr>
          <th scope="col">Received, UTC</th>
          <th scope="col">Account</th>
          <th scope="col">Action</th>
          <th scope="col">Platform</th>
          <th scope="col">SDK</th>
          <th scope="col">App</th>
          <th scope="col">Purpose</th>
        </tr>
      </thead>
      <tbody>
        {events.map((event) => (
          <tr key={event.event_id}>
            <td>
              <Link to="/events/$eventId" params={{ eventId: event.event_id }} className="row-link">
                <Time at={event.received_at} isShort />
              </Link>
            </td>
            <td>
              <Foreign text={event.account} />
            </td>
            <td>
              <Foreign text={event.action_type} />
            </td>
            <td>{event.platform}</td>
            <td>
              <Foreign text={event.sdk_version} />
            </td>
            <td>
              <Foreign text={event.app_version} />
            </td>
            <td>{event.purpose}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
