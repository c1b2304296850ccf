import type { Event } from "@device-risk-signals/admin-api";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useScope } from "../app/session.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { span, Time } from "../ui/time.tsx";

/** What the database has of an event in the clear. */
export function EventHead({ event }: { readonly event: Event }) {
  const canReadTimeline = useScope("events.timeline") !== undefined;
  const skewMs = Date.parse(event.received_at) - Date.parse(event.collected_at);
  return (
    <dl className="facts">
      <Fact name="Received">
        <Time at={event.received_at} />
      </Fact>
      <Fact name="Collected, by the device's clock">
        <Time at={event.collected_at} />{" "}
        <span className="quiet">
          ({span(skewMs)} {skewMs < 0 ? "after it was received" : "before it was received"})
        </span>
      </Fact>
      <Fact name="Account">
        <Link to="/events" search={{ account: event.account }}>
          <Foreign text={event.account} />
        </Link>
      </Fact>
      <Fact name="Action">
        <Link to="/events" search={{ action_id: event.action_id }}>
          <Foreign text={event.action_id} isCode />
        </Link>
      </Fact>
      <Fact name="Session">
        <Link to="/events" search={{ account: event.account, session_id: event.session_id }}>
          <Foreign text={event.session_id} isCode />
        </Link>
      </Fact>
      <Fact name="SDK and app">
        <Foreign text={event.sdk_version} /> in app version <Foreign text={event.app_version} />
      </Fact>
      <Fact name="Purpose">
        {event.purpose}
        {event.held && ", kept by a legal hold"}
        {event.restricted && ", excluded from analysis"}
      </Fact>
      <Fact name="Event id">
        <span className="mono">{event.event_id}</span>
      </Fact>
      <Fact name="Idempotency key">
        {canReadTimeline ? (
          <Link to="/events/key" search={{ account: event.account, key: event.idempotency_key }}>
            <Foreign text={event.idempotency_key} isCode />
          </Link>
        ) : (
          <Foreign text={event.idempotency_key} isCode />
        )}
      </Fact>
    </dl>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
