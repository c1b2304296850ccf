import type { Answer, Event } from "@device-risk-signals/admin-api";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useRead } from "../app/api.ts";
import { useScope } from "../app/session.tsx";
import { Value } from "../events/value.tsx";
import { Failure } from "../ui/failure.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { meaningOf } from "./shares.tsx";

/** The values of features of an event. Reading them is audited, so a person asks for it. */
export function EventFeatures({ event }: { readonly event: Event }) {
  const scope = useScope("features.read");
  const [isShown, setShown] = useState(false);
  if (scope === undefined) return null;
  return (
    <section aria-labelledby="features">
      <div className="section-head">
        <h2 id="features">What was computed from it</h2>
      </div>
      {isShown ? (
        <Values eventId={event.event_id} />
      ) : (
        <button type="button" className="button" onClick={() => setShown(true)}>
          Show the features
        </button>
      )}
    </section>
  );
}

type OfEvent = Answer<"readFeatures">["events"][number];

function Values({ eventId }: { readonly eventId: string }) {
  const { data, error, refetch } = useRead("readFeatures", { event_id: eventId });
  const [event] = data?.events ?? [];
  if (error) return <Failure error={error} what="The features could not be read" again={() => void refetch()} />;
  if (!event) return <Skeleton lines={4} />;
  return (
    <>
      <p className="quiet">{statusOf(event)}</p>
      {event.features.length > 0 && (
        <div className="table-scroll" tabIndex={0} role="region" aria-label="Features of the event">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Feature</th>
                <th scope="col">Value</th>
                <th scope="col">Lineage</th>
              </tr>
            </thead>
            <tbody>
              {event.features.map(({ feature, state, value, layer }) => (
                <tr key={`${layer} ${feature}`}>
                  <th scope="row">
                    <Link to="/features/$feature" params={{ feature }} className="mono">
                      {feature}
                    </Link>
                  </th>
                  <td title={meaningOf(state)}>
                    {state === "observed" ? <Value value={value} /> : <span className="quiet">{state}</span>}
                  </td>
                  <td>
                    <Link to="/events/$eventId/features/$feature" params={{ eventId, feature }}>
                      Where it comes from<span className="visually-hidden"> {feature}</span>
                    </Link>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

const STATUSES: Readonly<Record<OfEvent["status"], string>> = {
  computed: "Facts that reviewed code computed about this event; no score and no verdict.",
  pending: "A worker has not computed this event yet.",
  excluded: "No feature is computed for this event",
};

const REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "no-layer": "no feature is adopted for its purpose",
    "before-adoption": "it was received before the adoption, and no backfill has computed it",
    "not-computed": "it was excluded from analysis, or its period was over, when it was due",
  }),
);

function statusOf({ status, reason }: OfEvent): string {
  if (status !== "excluded") return STATUSES[status];
  return `${STATUSES.excluded}: ${REASONS.get(reason ?? "") ?? reason ?? "no reason is known"}.`;
}
