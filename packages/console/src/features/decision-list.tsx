import type { Answer } from "@device-risk-signals/admin-api";
import { Link } from "@tanstack/react-router";
import { Actor } from "../ui/actor.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Time } from "../ui/time.tsx";
import { meaningOf } from "./shares.tsx";

export type Decision = Answer<"listFeatureDecisions">["decisions"][number];
type Evidence = Answer<"adoptFeatures">["evidence"];
type Equivalence = Extract<Decision["evidence"], { readonly programs: unknown }>;

/** Who decided what about versions of features, why, and what was known then. */
export const DecisionList = ({ decisions }: { readonly decisions: readonly Decision[] }) => (
  <ol className="decisions">
    {decisions.map((decision) => (
      <li key={decision.decision}>
        <OneDecision decision={decision} />
      </li>
    ))}
  </ol>
);

const KINDS: Readonly<Record<string, string>> = {
  proposed: "Proposed",
  adopted: "Adopted",
  retired: "Retired",
  equivalent: "Recorded as equivalent",
};

function OneDecision({ decision }: { readonly decision: Decision }) {
  const { kind, features, purpose, decided_at, decided_by, reason, evidence } = decision;
  return (
    <article>
      <p>
        <strong>{KINDS[kind] ?? kind}</strong>
        {purpose !== null && <> for {purpose}</>} by <Actor text={decided_by} />,{" "}
        <span className="quiet">
          <Time at={decided_at} isShort /> UTC
        </span>
      </p>
      <p>
        <Foreign text={reason} />
      </p>
      <FeatureLinks features={features} />
      {"coverage" in evidence && <Known evidence={evidence} id={decision.decision} />}
      {"programs" in evidence && <Equivalents evidence={evidence} />}
    </article>
  );
}

export const FeatureLinks = ({ features }: { readonly features: readonly string[] }) => (
  <ul className="feature-links">
    {features.map((feature) => (
      <li key={feature}>
        <Link to="/features/$feature" params={{ feature }} className="mono">
          {feature}
        </Link>
      </li>
    ))}
  </ul>
);

/** What the stored events said about the inputs. */
function Known({ evidence, id }: { readonly evidence: Evidence; readonly id: number }) {
  const { days, events, is_limited, coverage, refused } = evidence;
  const refusing = refused.filter((version) => version.refused > 0);
  const states = [...new Set(coverage.flatMap((row) => Object.keys(row.states)))];
  return (
    <details>
      <summary>
        Evidence: {events.toLocaleString("en")} events of the {days} days before
        {refusing.length > 0 && `, of which ingestion would have refused some of ${refusing.length} SDK versions`}
      </summary>
      {is_limited && <p className="quiet">There were more events in these days: the newest were read.</p>}
      {refusing.length > 0 && (
        <ul className="bullets">
          {refusing.map((version) => (
            <li key={`${version.platform} ${version.sdk_version}`} className="numbers">
              {version.platform} <Foreign text={version.sdk_version} />: {version.refused.toLocaleString("en")} of{" "}
              {version.events.toLocaleString("en")} events
            </li>
          ))}
        </ul>
      )}
      {coverage.length === 0 ? (
        <p className="quiet">No event had these fields.</p>
      ) : (
        <div className="table-scroll" tabIndex={0} role="region" aria-label={`Evidence of decision ${id}`}>
          <table className="table group-table">
            <thead>
              <tr>
                <th scope="col">Field</th>
                <th scope="col">Platform</th>
                <th scope="col">SDK</th>
                {states.map((state) => (
                  <th key={state} scope="col" title={meaningOf(state)}>
                    {state}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {coverage.map((row) => (
                <tr key={JSON.stringify([row.field, row.platform, row.sdk_version])}>
                  <th scope="row">
                    <Link to="/drift/$path" params={{ path: row.field }}>
                      <Foreign text={row.field} isCode />
                    </Link>
                  </th>
                  <td>{row.platform}</td>
                  <td>
                    <Foreign text={row.sdk_version} />
                  </td>
                  {states.map((state) => (
                    <td key={state} className="numbers">
                      {row.states[state]?.toLocaleString("en")}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}

const Equivalents = ({ evidence: { programs, unreadable } }: { readonly evidence: Equivalence }) => (
  <ul className="bullets">
    {programs.map(({ feature, events, cases }) => (
      <li key={feature} className="numbers">
        <Foreign text={feature} isCode />: the same for {events.toLocaleString("en")} events and{" "}
        {cases.toLocaleString("en")} fixtures
        {unreadable > 0 && `; ${unreadable.toLocaleString("en")} events could not be opened`}
      </li>
    ))}
  </ul>
);
