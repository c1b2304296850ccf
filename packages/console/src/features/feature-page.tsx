import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { PageHead } from "../ui/page-head.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { DecisionList } from "./decision-list.tsx";
import { Distribution } from "./distribution.tsx";
import { BYS, type By } from "./feature-search.ts";
import { LineageGraph } from "./lineage-graph.tsx";
import { definitionSteps, fieldStep, layerStep } from "./lineage-steps.tsx";
import type { Described } from "./shares.tsx";

/** A version of a feature: how often it had each value, what it reads, what was decided about it. */
export function FeaturePage() {
  const { feature } = useParams({ from: "/shell/features/$feature" });
  const { by = "all" } = useSearch({ from: "/shell/features/$feature" });
  const navigate = useNavigate({ from: "/features/$feature" });
  const scope = useScope("features.read");
  const input = { feature, ...(by !== "all" && { by }) };
  const { data, error, refetch } = useRead("describeFeature", input, scope !== undefined);
  return (
    <>
      <p className="crumbs">
        <Link to="/features">Features</Link>
      </p>
      <PageHead title={feature} what={data?.meaning ?? "How often it had each state and value."}>
        <div className="segments" role="group" aria-label="Groups">
          {(Object.keys(BYS) as readonly By[]).map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={by === one}
              onClick={() => void navigate({ search: one === "all" ? {} : { by: one }, replace: true })}
            >
              {BYS[one]}
            </button>
          ))}
        </div>
      </PageHead>
      {scope === undefined && <Forbidden permission="features.read" what="The distribution of values" />}
      {error && <Failure error={error} what="The distribution could not be read" again={() => void refetch()} />}
      {scope !== undefined && !error && !data && <Skeleton lines={6} />}
      {data && (
        <>
          <Versions described={data} />
          <Distribution described={data} />
          <Definition described={data} />
        </>
      )}
      <OneValue feature={feature} />
      <Decisions feature={feature} />
    </>
  );
}

/** The other versions, and how they differ. */
function Versions({ described: { feature, versions, purposes } }: { readonly described: Described }) {
  const canExport = useScope("exports.features") !== undefined;
  const others = versions.filter((one) => one !== feature);
  return (
    <nav className="buttons versions" aria-label="Versions">
      {others.map((other) => {
        // The older version is on the left.
        const [left, right] = versions.indexOf(other) < versions.indexOf(feature) ? [other, feature] : [feature, other];
        return (
          <Link
            key={other}
            to="/features/$feature/compare/$other"
            params={{ feature: left, other: right }}
            className="button"
          >
            Compare with <Foreign text={other} isCode />
          </Link>
        );
      })}
      {others.length === 0 && <span className="quiet">This is the only version.</span>}
      {canExport && (
        <Link
          to="/features/export"
          search={{ features: feature, ...(purposes[0] !== undefined && { purpose: purposes[0] }) }}
          className="button"
        >
          Export values
        </Link>
      )}
    </nav>
  );
}

function Definition({ described }: { readonly described: Described }) {
  const { feature, inputs, versions, owner, hash, purposes, false_readings: falseReadings } = described;
  const { data } = useRead("readLayers", {}, useScope("features.governance") !== undefined);
  const layers = data?.layers.filter(({ members }) => members.includes(feature)) ?? [];
  const steps = [
    fieldStep(
      inputs.map(({ name, field, type, unit }) => ({ name, field, more: [type, unit].filter(Boolean).join(", ") })),
    ),
    ...definitionSteps(described, `${versions.length} ${versions.length === 1 ? "version" : "versions"}`),
    layerStep(layers),
  ];
  return (
    <section aria-labelledby="definition">
      <div className="section-head">
        <h2 id="definition">Where its values come from</h2>
        <span className="quiet">a layer is what is computed together for a purpose</span>
      </div>
      <LineageGraph steps={steps} label={`Lineage of ${feature}`} />
      <details>
        <summary>The definition in words</summary>
        <dl className="data">
          <dt>Owner</dt>
          <dd>
            <Foreign text={owner} />
          </dd>
          <dt>Purposes that it names</dt>
          <dd>
            <Foreign text={purposes.join(", ")} />
          </dd>
          <dt>Misleads where</dt>
          <dd>
            <Foreign text={falseReadings.join("; ") || "nothing is known"} />
          </dd>
          <dt>Fields that it reads</dt>
          <dd>
            <ul>
              {inputs.map(({ name, field, type, unit, sensitivity }) => (
                <li key={name}>
                  <Link to="/drift/$path" params={{ path: field }}>
                    <Foreign text={field} isCode />
                  </Link>
                  , {[type, unit, `${sensitivity} sensitivity`].filter(Boolean).join(", ")}
                </li>
              ))}
            </ul>
          </dd>
          <dt>Layers</dt>
          <dd>
            {layers.length === 0
              ? "It is computed for no purpose."
              : layers.map(({ layer, purpose, ended_at }) => (
                  <span key={layer} className="layer-words">
                    {layer} for {purpose}
                    {ended_at === null ? ", now" : `, until ${ended_at.slice(0, 10)}`}
                  </span>
                ))}
          </dd>
          <dt>SHA-256 of the program</dt>
          <dd className="mono">{hash}</dd>
        </dl>
      </details>
    </section>
  );
}

/** Leads to the lineage of the value of one event, which the auditor sees without the value. */
function OneValue({ feature }: { readonly feature: string }) {
  const scope = useScope("features.explain");
  const navigate = useNavigate();
  const show = (submitted: FormEvent<HTMLFormElement>): void => {
    submitted.preventDefault();
    const id = new FormData(submitted.currentTarget).get("event");
    const eventId = typeof id === "string" ? id.trim().toLowerCase() : "";
    void navigate({ to: "/events/$eventId/features/$feature", params: { eventId, feature } });
  };
  if (scope === undefined) return null;
  return (
    <form className="add-filter one-value" onSubmit={show}>
      <input
        name="event"
        className="input"
        aria-label="Event id"
        placeholder="Event id"
        required
        pattern="\s*[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\s*"
        autoComplete="off"
        spellCheck={false}
      />
      <button type="submit" className="button">
        Where its value comes from
      </button>
    </form>
  );
}

const SHOWN = 20;

function Decisions({ feature }: { readonly feature: string }) {
  const scope = useScope("features.governance");
  const { data, error, refetch } = useRead("listFeatureDecisions", { feature, limit: SHOWN }, scope !== undefined);
  if (scope === undefined) return null;
  return (
    <section aria-labelledby="decided">
      <div className="section-head">
        <h2 id="decided">What was decided</h2>
        <span className="quiet">newest first, with the evidence of that time</span>
      </div>
      {error && <Failure error={error} what="The decisions could not be read" again={() => void refetch()} />}
      {!error && !data && <Skeleton lines={3} />}
      {data?.decisions.length === 0 && <p className="quiet">Nothing was decided about this version.</p>}
      {data && <DecisionList decisions={data.decisions} />}
    </section>
  );
}
