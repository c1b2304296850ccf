import type { Event } from "@device-risk-signals/admin-api";
import { Link } from "@tanstack/react-router";
import { Foreign } from "../ui/foreign.tsx";
import { Time } from "../ui/time.tsx";

const FACTS = {
  account: "Account",
  action_type: "Action",
  sdk_version: "SDK",
  app_version: "App version",
  platform: "Platform",
} as const;

/** Which two events are compared, and what the database has of them in the clear. */
export const CompareHead = ({ left, right }: { readonly left: Event; readonly right: Event }) => (
  <div className="table-scroll" tabIndex={0} role="region" aria-label="The two events">
    <table className="table compare-table">
      <thead>
        <tr>
          <th scope="col">The two events</th>
          <SideHead event={left} which="Earlier" />
          <SideHead event={right} which="Later" />
        </tr>
      </thead>
      <tbody>
        {(Object.keys(FACTS) as readonly (keyof typeof FACTS)[]).map((fact) => (
          <tr key={fact}>
            <th scope="row">
              {FACTS[fact]}
              {left[fact] !== right[fact] && <span className="tag">differs</span>}
            </th>
            <td>
              <Foreign text={left[fact]} />
            </td>
            <td>
              <Foreign text={right[fact]} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

export const SideHead = ({ event, which }: { readonly event: Event; readonly which: string }) => (
  <th scope="col">
    {which}:{" "}
    <Link to="/events/$eventId" params={{ eventId: event.event_id }}>
      <Time at={event.received_at} isShort />
    </Link>{" "}
    UTC
  </th>
);
