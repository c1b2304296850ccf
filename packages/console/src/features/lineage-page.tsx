import type { Answer } from "@device-risk-signals/admin-api";
import { describeFields } from "@device-risk-signals/contract/observations";
import { Link, useParams } from "@tanstack/react-router";
import { useMemo } from "react";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { fieldNameOf, probeOf } from "../events/field-path.ts";
import { useOpened } from "../events/opened.ts";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { PageHead } from "../ui/page-head.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { DecisionList } from "./decision-list.tsx";
import { LineageGraph } from "./lineage-graph.tsx";
import { definitionSteps, fieldStep, layerStep, valueStep } from "./lineage-steps.tsx";
import { meaningOf } from "./shares.tsx";

type Explained = Answer<"explainFeature">;
type Explanation = Explained["values"][number];

/** Where the value of a feature for one event comes from, also after the event has expired. */
export function LineagePage() {
  const { eventId, feature } = useParams({ from: "/shell/events/$eventId/features/$feature" });
  const scope = useScope("features.explain");
  const input = { event_id: eventId, feature };
  const { data, error, refetch } = useRead("explainFeature", input, scope !== undefined);
  return (
    <>
      <p className="crumbs">
        <Link to="/features">Features</Link> ›{" "}
        <Link to="/events/$eventId" params={{ eventId }}>
          The event
        </Link>
      </p>
      <PageHead title={`${feature} of one event`} what="Where the value comes from. Reading it is audited." />
      {scope === undefined && <Forbidden permission="features.explain" what="The lineage of a value" />}
      {error && <Failure error={error} what="The value could not be explained" again={() => void refetch()} />}
      {scope !== undefined && !error && !data && <Skeleton lines={8} />}
      {data?.status === "erased" && <Erased erasures={data.erasures} />}
      {data?.event && <Facts event={data.event} eventId={eventId} />}
      {data?.values.map((value) => (
        <OneValue key={`${value.layer} ${value.feature}`} eventId={eventId} value={value} event={data.event} />
      ))}
    </>
  );
}

const Erased = ({ erasures }: Pick<Explained, "erasures">) => (
  <div className="empty">
    <h2>The event was erased</h2>
    <p className="quiet">
      Nothing else is known of it.{" "}
      {erasures.map(({ erasure_id, began_at }) => (
        <span key={erasure_id}>
          Erasure <span className="mono">{erasure_id}</span>, <Time at={began_at} />.{" "}
        </span>
      ))}
    </p>
  </div>
);

interface FactsProps {
  readonly event: NonNullable<Explained["event"]>;
  readonly eventId: string;
}

const Facts = ({ event: { received_at, purpose, platform, sdk_version, is_stored }, eventId }: FactsProps) => (
  <p>
    Event <span className="mono">{eventId}</span>, received <Time at={received_at} /> for {purpose}, from {platform}{" "}
    with SDK <Foreign text={sdk_version} />. {!is_stored && "The event itself has expired; the value is kept longer."}
  </p>
);

const textOf = ({ state, value, is_value_withheld }: Explanation): string =>
  state !== "observed" ? state : is_value_withheld ? "a value, not for your roles" : JSON.stringify(value);

interface OneValueProps {
  readonly eventId: string;
  readonly value: Explanation;
  readonly event: Explained["event"];
}

/** The fields of an event that was opened in this page; reading them again would be one more audited read. */
function useValues(eventId: string): ReadonlyMap<string, unknown> | undefined {
  const opened = useOpened(eventId);
  return useMemo(() => {
    if (!opened) return undefined;
    const raw = opened.observations as Readonly<Record<string, unknown>>;
    const fields = [...describeFields(raw, opened.event.platform)];
    return new Map(fields.map(({ path, value }) => [`${probeOf(path)}.${fieldNameOf(path)}`, value]));
  }, [opened]);
}

function OneValue({ eventId, value, event }: OneValueProps) {
  const { feature, inputs, layer, adopted, retired, extracted_at, attestation, false_readings: falseReadings } = value;
  const values = useValues(eventId);
  const canOpen = useScope("events.observations") !== undefined && event?.is_stored === true;
  const steps = [
    fieldStep(
      inputs.map(({ name, field, state }) => ({
        name,
        field,
        more: values?.has(field) ? JSON.stringify(values.get(field)) : state,
      })),
    ),
    ...definitionSteps(value, "one of its versions"),
    layerStep([
      {
        layer,
        purpose: event?.purpose ?? "",
        active_from: adopted?.decided_at ?? extracted_at,
        ended_at: retired?.decided_at ?? null,
      },
    ]),
    valueStep(eventId, textOf(value), extracted_at),
  ];
  const decisions = [value.proposed, adopted, retired].filter((decision) => decision !== null);
  return (
    <section aria-label={`${feature}, layer ${layer}`}>
      <div className="section-head">
        <h2>
          <Foreign text={feature} isCode />: <Foreign text={textOf(value)} />
        </h2>
        {value.state !== "observed" && <span className="quiet">{meaningOf(value.state)}</span>}
      </div>
      <p>
        <Foreign text={value.meaning} />
      </p>
      {falseReadings.length > 0 && (
        <p>
          It misleads where: <Foreign text={falseReadings.join("; ")} />.
        </p>
      )}
      {canOpen && !values && (
        <p className="quiet">
          The values of the fields are sealed:{" "}
          <Link to="/events/$eventId" params={{ eventId }} hash="observations">
            open the observations
          </Link>
          , then come back to see them here.
        </p>
      )}
      <LineageGraph steps={steps} label={`Lineage of ${feature}`} />
      <InWords value={value} />
      {attestation && (
        <p>
          Computed again before the event expired, <Time at={attestation.attested_at} />:{" "}
          {attestation.is_included ? "the result was the same." : "this row was not among the equal ones."}
        </p>
      )}
      <div className="section-head">
        <h3>What was decided</h3>
      </div>
      <DecisionList decisions={decisions} />
    </section>
  );
}

/** The lineage as a list: what the picture shows, without its lengths. */
function InWords({ value }: { readonly value: Explanation }) {
  const { inputs, owner, hash, sha256, layer, extracted_at, failure } = value;
  return (
    <details>
      <summary>The lineage in words</summary>
      <ol className="lineage-words">
        {inputs.map(({ name, field, state }) => (
          <li key={name}>
            Field{" "}
            <Link to="/drift/$path" params={{ path: field }}>
              <Foreign text={field} isCode />
            </Link>{" "}
            was <strong>{state}</strong>
            {meaningOf(state) && <span className="quiet">: {meaningOf(state)}</span>}; the definition calls it{" "}
            <Foreign text={name} isCode />.
          </li>
        ))}
        <li>
          The definition belongs to <Foreign text={owner} />.
        </li>
        <li>
          The archived program of the version has the SHA-256 <span className="mono">{hash}</span>.
        </li>
        <li>
          The version was computed in layer {layer}, which is what is computed together for the purpose.{" "}
          {failure !== null && (
            <>
              It failed: <Foreign text={failure} />.
            </>
          )}
        </li>
        <li>
          It was computed <Time at={extracted_at} /> of the bytes with the SHA-256{" "}
          <span className="mono">{sha256}</span>.
        </li>
      </ol>
    </details>
  );
}
