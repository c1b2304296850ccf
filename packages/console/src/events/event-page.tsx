import type { Event } from "@device-risk-signals/admin-api";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { call, useRead } from "../app/api.ts";
import { Forbidden, useScope, useSession } from "../app/session.tsx";
import { useKeys } from "../app/use-keys.ts";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { relative } from "../ui/time.tsx";
import { EventFeatures } from "../features/event-features.tsx";
import { CompareWith } from "./compare-with.tsx";
import { EventHead } from "./event-head.tsx";
import { ExactBytes } from "./exact-bytes.tsx";
import { Observations } from "./observations.tsx";
import { OpenCaseDialog } from "./open-case-dialog.tsx";
import { keepOpened, useOpened } from "./opened.ts";
import { type Case, forgetCases, nameOf, useCase } from "./use-case.tsx";

export function EventPage() {
  const { eventId } = useParams({ from: "/shell/events/$eventId" });
  const scope = useScope("events.list");
  const { data: event, error, refetch } = useRead("readEvent", { event_id: eventId }, scope !== undefined);
  if (!event) {
    return (
      <>
        <h1>Event</h1>
        {scope === undefined && <Forbidden permission="events.list" what="An event" />}
        {error && <Failure error={error} what="The event can't be shown" again={() => void refetch()} />}
        {error && (
          <p>
            Perhaps it is no event id:{" "}
            <Link to="/events/key" search={{ key: eventId }}>
              search it as an idempotency key
            </Link>
            .
          </p>
        )}
        {scope !== undefined && !error && <Skeleton lines={6} />}
      </>
    );
  }
  return (
    <article>
      <header className="page-head">
        <div>
          <p className="crumbs">
            <Link to="/events" search={{ account: event.account }}>
              Events of this account
            </Link>
          </p>
          <h1>
            <Foreign text={event.action_type} /> on {event.platform}
          </h1>
        </div>
      </header>
      <p className="note">These are observations. What blocked a customer was decided in your own system.</p>
      <EventHead event={event} />
      <Opened event={event} />
      <EventFeatures event={event} />
    </article>
  );
}

function Opened({ event }: { readonly event: Event }) {
  const scope = useScope("events.observations");
  const { person } = useSession();
  const known = useCase(person, [event], scope !== undefined);
  const opened = useOpened(event.event_id);
  const [isAsking, setAsking] = useState(false);
  const [isOpening, setOpening] = useState(false);
  const [error, setError] = useState<unknown>();
  const open = async ({ case_id }: Case): Promise<void> => {
    setAsking(false);
    setOpening(true);
    setError(undefined);
    try {
      keepOpened(await call("readObservations", { event_id: event.event_id, case_id }));
    } catch (thrown) {
      setError(thrown);
      await forgetCases();
    }
    setOpening(false);
  };
  const ask = (): void => (known ? void open(known) : setAsking(true));
  const canOpen = scope !== undefined && !opened && !isOpening;
  useKeys(canOpen ? { o: ask } : {});
  if (scope === undefined) {
    return <Forbidden permission="events.observations" what="Opening what the device reported" />;
  }
  return (
    <section aria-labelledby="observations">
      <header className="section-head">
        <h2 id="observations">What the device reported</h2>
        {known && (
          <span className="quiet">
            under case <Foreign text={nameOf(known)} />, which ends {relative(known.expires_at)}
          </span>
        )}
      </header>
      {error !== undefined && <Failure error={error} what="The observations were not opened" />}
      {isOpening && <Skeleton lines={6} />}
      {canOpen && (
        <div className="closed">
          <p>The observations are sealed. Opening them writes your name and the case to the audit log.</p>
          <button type="button" className="button primary" onClick={ask}>
            Open the observations
          </button>
        </div>
      )}
      {isAsking && (
        <OpenCaseDialog
          event={event}
          isForAccount={false}
          close={() => setAsking(false)}
          opened={(one) => void open(one)}
        />
      )}
      {opened && (
        <>
          <CompareWith event={event} />
          <Observations opened={opened} />
          {known && <ExactBytes event={event} under={known} />}
        </>
      )}
    </section>
  );
}
