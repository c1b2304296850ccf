import type { Answer, Event } from "@device-risk-signals/admin-api";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { call } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Failure } from "../ui/failure.tsx";
import { FilterBar } from "../ui/filter-bar.tsx";
import { Foreign, visible } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { Count } from "./count.tsx";
import { Histogram } from "./histogram.tsx";
import { useOpened } from "./opened.ts";
import { FILTERS, inputOf, type Search } from "./search.ts";

// These read the catalog, which the first page does not load.
const OpenPage = lazy(async () => ({ default: (await import("./open-page.tsx")).OpenPage }));
const OpenedRow = lazy(async () => ({ default: (await import("./opened-row.tsx")).OpenedRow }));

const PAGE = 50;

export function SearchPage() {
  const scope = useScope("events.list");
  const search = useSearch({ from: "/shell/events" });
  if (scope === undefined) {
    return (
      <>
        <h1>Events</h1>
        <Forbidden permission="events.list" what="The list of events" />
      </>
    );
  }
  return (
    <>
      <header className="page-head">
        <h1>Events</h1>
      </header>
      <Filters search={search} />
      <When search={search} />
      {scope === "pseudonyms" && <p className="note">Accounts, actions and sessions are shown as pseudonyms.</p>}
      <Results search={search} />
    </>
  );
}

function Filters({ search }: { readonly search: Search }) {
  const navigate = useNavigate({ from: "/events" });
  const change = (changes: Search): void =>
    void navigate({ search: (before: Search) => ({ ...before, ...changes }), replace: true });
  return (
    <FilterBar
      labels={FILTERS}
      search={search}
      timesOf="Received"
      change={(changes) => change(changes as Search)}
      clear={
        <Link to="/events" className="quiet">
          Clear
        </Link>
      }
    />
  );
}

function When({ search }: { readonly search: Search }) {
  const navigate = useNavigate({ from: "/events" });
  return (
    <Histogram
      search={search}
      zoom={(range) => void navigate({ search: (before: Search) => ({ ...before, ...range }) })}
    />
  );
}

function Results({ search }: { readonly search: Search }) {
  const list = useInfiniteQuery({
    queryKey: ["listEvents", search],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: after }) =>
      call("listEvents", { ...inputOf(search), features: true, limit: PAGE, ...(after !== undefined && { after }) }),
    getNextPageParam: ({ next }: Answer<"listEvents">) => next ?? undefined,
  });
  if (list.isPending) return <Skeleton lines={8} />;
  const pages = list.data?.pages ?? [];
  const events = pages.flatMap((page) => page.events);
  const until = pages.at(-1)?.searched_until ?? null;
  return (
    <>
      {events.length > 0 && (
        <>
          <Suspense>
            <OpenPage key={JSON.stringify(search)} events={events} />
          </Suspense>
          <EventTable events={events} search={search} />
        </>
      )}
      {list.error && (
        <Failure
          error={list.error}
          what={events.length > 0 ? "Older events could not be read" : "The events could not be read"}
          again={() => void (events.length > 0 ? list.fetchNextPage() : list.refetch())}
        />
      )}
      {!list.error && events.length === 0 && until === null && <NoEvents search={search} />}
      <footer className="list-foot">
        {until !== null && (
          <p>
            Searched back to <Time at={until} />: no index has these filters. Go on, or add an account or a time.
          </p>
        )}
        {list.hasNextPage && (
          <button
            type="button"
            className="button"
            disabled={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            {until === null ? "Older events" : "Go on"}
          </button>
        )}
        {events.length > 0 && !list.hasNextPage && <p className="quiet">These are all events of these filters.</p>}
        {list.hasNextPage && <Count key={JSON.stringify(search)} search={search} />}
      </footer>
    </>
  );
}

function NoEvents({ search }: { readonly search: Search }) {
  const { account } = search;
  const isFiltered = Object.keys(search).length > 0;
  return (
    <div className="empty">
      <h2>{isFiltered ? "No event has these filters" : "No events yet"}</h2>
      {account !== undefined && (
        <p>
          Perhaps it is no account:{" "}
          <Link to="/events" search={{ action_id: account }}>
            search it as an action id
          </Link>
          , or{" "}
          <Link to="/events/key" search={{ key: account }}>
            as an idempotency key
          </Link>
          .
        </p>
      )}
      <p className="quiet">
        {isFiltered
          ? "An event that expired, or that was erased or excluded from analysis, is not in this list."
          : "An event appears here as soon as the endpoint has stored it. The server's start prints a request to try."}
      </p>
    </div>
  );
}

function EventTable({ events, search }: { readonly events: readonly Event[]; readonly search: Search }) {
  return (
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
            <th scope="col">Features</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {events.map((event) => (
            <Row key={event.event_id} event={event} search={search} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const COLUMNS = 9;

function Row({ event, search }: { readonly event: Event; readonly search: Search }) {
  const opened = useOpened(event.event_id);
  return (
    <>
      <tr className="event-row">
        <td>
          <Link to="/events/$eventId" params={{ eventId: event.event_id }} className="row-link">
            <Time at={event.received_at} isShort />
          </Link>
        </td>
        <Cell name="account" event={event} search={search} />
        <Cell name="action_type" event={event} search={search} />
        <Cell name="platform" event={event} search={search} />
        <Cell name="sdk_version" event={event} search={search} />
        <td>
          <Foreign text={event.app_version} />
        </td>
        <Cell name="purpose" event={event} search={search} />
        <td>{featuresOf(event)}</td>
        <td>{stateOf(event)}</td>
      </tr>
      {opened && (
        <Suspense>
          <OpenedRow opened={opened} columns={COLUMNS} />
        </Suspense>
      )}
    </>
  );
}

/** Whether the features of the event are computed. Their values are sealed. */
function featuresOf({ features }: Event): string {
  if (!features) return "";
  const { status, reason, features: stored } = features;
  if (status === "pending") return "pending";
  const why = reason === "before-adoption" ? "received before the adoption" : reason?.replaceAll("-", " ");
  return [status === "computed" ? `${stored} computed` : "", why ?? ""].filter(Boolean).join(", ");
}

const stateOf = ({ held, restricted }: Event): string =>
  [held ? "on hold" : "", restricted ? "excluded from analysis" : ""].filter(Boolean).join(", ");

interface CellProps {
  readonly name: "account" | "action_type" | "platform" | "sdk_version" | "purpose";
  readonly event: Event;
  readonly search: Search;
}

/** A value that filters the list by itself. */
function Cell({ name, event, search }: CellProps) {
  const value = event[name];
  if (search[name] === value) {
    return (
      <td>
        <Foreign text={value} />
      </td>
    );
  }
  return (
    <td>
      <Link
        to="/events"
        search={{ ...search, [name]: value }}
        className="cell-filter"
        title={visible(`Only ${FILTERS[name].toLowerCase()} ${value}`)}
      >
        <Foreign text={value} />
      </Link>
    </td>
  );
}
