import type { Event } from "@device-risk-signals/admin-api";
import { Link } from "@tanstack/react-router";
import { useRead } from "../app/api.ts";
import { Foreign } from "../ui/foreign.tsx";
import { relative, Time } from "../ui/time.tsx";

const SHOWN = 3;

/** The account's events before this one. */
export function CompareWith({ event }: { readonly event: Event }) {
  const { data } = useRead("listEvents", { account: event.account, to: event.received_at, limit: SHOWN });
  if (!data) return null;
  if (data.events.length === 0) return <p className="quiet">The account has no earlier event to compare with.</p>;
  return (
    <nav className="compare-with" aria-label="Compare with an earlier event">
      <span className="quiet">Compare with</span>
      {data.events.map(({ event_id, action_type, platform, received_at }) => (
        <Link
          key={event_id}
          to="/events/$eventId/compare/$otherId"
          params={{ eventId: event.event_id, otherId: event_id }}
          className="button"
          preload={false}
        >
          <Foreign text={action_type} /> on {platform}, <Time at={received_at} isShort /> (
          {between(received_at, event.received_at)})
        </Link>
      ))}
    </nav>
  );
}

const between = (earlier: string, later: string): string =>
  `${relative(earlier, Date.parse(later), "always").replace(" ago", "")} before`;
