import type { Event } from "@device-risk-signals/admin-api";
import { Link, useRouter, useSearch } from "@tanstack/react-router";
import { memo, type MouseEvent, useState } from "react";
import { Forbidden, useScope } from "../app/session.tsx";
import { useKeys } from "../app/use-keys.ts";
import { EventHead } from "../events/event-head.tsx";
import { ChosenFilters } from "../ui/chosen-filters.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign, visible } from "../ui/foreign.tsx";
import { PageHead } from "../ui/page-head.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { hrefWith, LIVE_FILTERS, type LiveSearch, liveSearchOf } from "./live-search.ts";
import { RING, type Tail } from "./tail.ts";
import { type TailFilter, useTail } from "./use-tail.ts";

/** Rows that the page shows: all that an answer has. The others of the ring are counted. */
const SHOWN = 300;

export function LivePage() {
  const search = useSearch({ from: "/shell/live" });
  const scope = useScope("events.list");
  const { tail, pause, resume } = useTail(search as TailFilter, scope !== undefined);
  const [chosen, choose] = useState<Event>();
  useKeys({ p: () => (tail.isPaused ? resume() : pause()) });
  const { events, waiting, isPaused, at, error } = tail;
  return (
    <>
      <PageHead title="Live" what="Events as they are stored, of the last ten minutes and from now on.">
        <button type="button" className="button" onClick={isPaused ? resume : pause}>
          {isPaused ? "Resume" : "Pause"} <kbd>p</kbd>
        </button>
      </PageHead>
      {scope === undefined && <Forbidden permission="events.list" what="The events" />}
      <p className="quiet">
        A refused request is no event: see <Link to="/rejections/latest">the latest rejected requests</Link>.
      </p>
      <ChosenFilters to="/live" search={search} labels={LIVE_FILTERS} />
      {isPaused && (
        <p className="paused-bar" role="status">
          <strong>Paused.</strong> <span className="numbers">{waiting.length.toLocaleString()}</span> newer{" "}
          {waiting.length === 1 ? "event waits" : "events wait"}.{" "}
          <button type="button" className="button" onClick={resume}>
            Show them
          </button>
        </p>
      )}
      {error !== undefined && <Failure error={error} what="The tail is interrupted, and is tried again" />}
      {scope !== undefined && at === undefined && error === undefined && <Skeleton lines={6} />}
      {at !== undefined && events.length === 0 && (
        <div className="empty">
          <h2>No event in the last ten minutes</h2>
          <p className="quiet">An event appears here about a second after the endpoint has answered it.</p>
        </div>
      )}
      <div className={chosen ? "live with-panel" : "live"}>
        {events.length > 0 && <Rows events={events} search={search} choose={choose} chosen={chosen?.event_id} />}
        {chosen && <Panel event={chosen} close={() => choose(undefined)} />}
      </div>
      <Unshown tail={tail} />
    </>
  );
}

/** Nothing is left out in silence. */
function Unshown({ tail: { events, dropped, hasGap } }: { readonly tail: Tail }) {
  const hidden = Math.max(0, events.length - SHOWN);
  return (
    <>
      {hidden > 0 && (
        <p className="quiet numbers">
          {hidden.toLocaleString()} older events of this page are not shown: add a filter, or search them.
        </p>
      )}
      {dropped > 0 && (
        <p className="note numbers">
          {dropped.toLocaleString()} events were dropped: the page keeps {RING.toLocaleString()}.
        </p>
      )}
      {hasGap && (
        <p className="note">
          Some events are missing here: more arrived at a time than the server answers with, or this page was hidden for
          ten minutes. <Link to="/events">Search</Link> has all of them.
        </p>
      )}
    </>
  );
}

interface RowsProps {
  readonly events: readonly Event[];
  readonly search: LiveSearch;
  readonly choose: (event: Event) => void;
  readonly chosen: string | undefined;
}

const COLUMNS = ["account", "action_type", "platform", "sdk_version", "purpose"] as const;

/**
 * The links of all cells have one handler, because a thousand of them appear in a second: the router's own component
 * takes most of the page's time then.
 */
function useFollow(): (event: MouseEvent) => void {
  const router = useRouter();
  return (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void router.navigate({ to: "/live", search: liveSearchOf(router.options.parseSearch(link.search)) });
  };
}

const Rows = ({ events, search, choose, chosen }: RowsProps) => (
  <div className="table-scroll" tabIndex={0} role="region" aria-label="Events, newest first">
    <table className="table events-table" onClick={useFollow()}>
      <thead>
        <tr>
          <th scope="col">Received, UTC</th>
          {COLUMNS.map((name) => (
            <th key={name} scope="col">
              {LIVE_FILTERS[name]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {events.slice(0, SHOWN).map((event) => (
          <Row
            key={event.event_id}
            event={event}
            search={search}
            choose={choose}
            isChosen={event.event_id === chosen}
          />
        ))}
      </tbody>
    </table>
  </div>
);

interface RowProps extends Pick<RowsProps, "search" | "choose"> {
  readonly event: Event;
  readonly isChosen: boolean;
}

const Row = memo(({ event, search, choose, isChosen }: RowProps) => (
  <tr className={isChosen ? "chosen" : undefined}>
    <td>
      <button type="button" className="row-link row-button" aria-pressed={isChosen} onClick={() => choose(event)}>
        <Time at={event.received_at} isShort />
      </button>
    </td>
    {COLUMNS.map((name) => (
      <td key={name}>
        <a
          href={hrefWith(search, name, event[name])}
          className="cell-filter"
          title={visible(`Only ${LIVE_FILTERS[name].toLowerCase()} ${event[name]}`)}
        >
          <Foreign text={event[name]} />
        </a>
      </td>
    ))}
  </tr>
));

/** The event next to the tail, which continues. */
const Panel = ({ event, close }: { readonly event: Event; readonly close: () => void }) => (
  <aside className="chosen-event" aria-label="The chosen event">
    <div className="dialog-head">
      <h2>
        <Foreign text={event.action_type} /> on {event.platform}
      </h2>
      <button type="button" className="button quiet-button" onClick={close}>
        Close
      </button>
    </div>
    <EventHead event={event} />
    <p>
      <Link to="/events/$eventId" params={{ eventId: event.event_id }}>
        What the device reported
      </Link>
    </p>
  </aside>
);
