import type { Answer } from "@device-risk-signals/admin-api";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { PageHead } from "../ui/page-head.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { span, Time } from "../ui/time.tsx";

const SHOWN = 20;

/** What is computed for which purpose, what was decided, what runs, and what was handed out. */
export function FeaturesPage() {
  const scope = useScope("features.governance");
  return (
    <>
      <PageHead title="Features" what="Facts that reviewed code computes about one event each, and where they are." />
      {scope === undefined ? (
        <Forbidden permission="features.governance" what="The list of features" />
      ) : (
        <>
          <Layers />
          <Decisions />
        </>
      )}
      <Backfills />
      <Exports />
    </>
  );
}

interface PartProps {
  readonly id: string;
  readonly title: string;
  readonly error: unknown;
  readonly again: () => unknown;
  readonly isEmpty: boolean | undefined;
  readonly empty: string;
  readonly children: ReactNode;
}

/** A part of the page that is loading, failed, empty or there, without the others. */
const Part = ({ id, title, error, again, isEmpty, empty, children }: PartProps) => (
  <section aria-labelledby={id}>
    <div className="section-head">
      <h2 id={id}>{title}</h2>
    </div>
    {error ? <Failure error={error} what={`${title} could not be read`} again={() => void again()} /> : null}
    {!error && isEmpty === undefined && <Skeleton lines={3} />}
    {isEmpty === true && <p className="quiet">{empty}</p>}
    {isEmpty === false && (
      <div className="table-scroll" tabIndex={0} role="region" aria-label={`Table: ${title}`}>
        {children}
      </div>
    )}
  </section>
);

const isEmptyList = (list: readonly unknown[] | undefined): boolean | undefined => list && list.length === 0;

const FeatureLinks = ({ features }: { readonly features: readonly string[] }) => (
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

function Layers() {
  const { data, error, refetch } = useRead("readLayers", {});
  return (
    <Part
      id="computed"
      title="Computed now"
      error={error}
      again={refetch}
      isEmpty={isEmptyList(data?.layers)}
      empty="No feature is adopted: drs feature propose and drs feature adopt do that, from reviewed definitions."
    >
      {data && data.due_batches > 0 && (
        <p className="note numbers">
          {data.due_batches.toLocaleString()} batches of events wait, the oldest for {span(data.lag_seconds * 1_000)}.
        </p>
      )}
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Purpose</th>
            <th scope="col">Features</th>
            <th scope="col">Since, UTC</th>
            <th scope="col">Until, UTC</th>
          </tr>
        </thead>
        <tbody>
          {data?.layers.map(({ layer, purpose, members, active_from, ended_at }) => (
            <tr key={layer}>
              <th scope="row">{purpose}</th>
              <td>
                <FeatureLinks features={members} />
              </td>
              <td>
                <Time at={active_from} isShort />
              </td>
              <td>{ended_at === null ? "now" : <Time at={ended_at} isShort />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Part>
  );
}

function Decisions() {
  const { data, error, refetch } = useRead("listFeatureDecisions", { limit: SHOWN });
  return (
    <Part
      id="decisions"
      title={`The last ${SHOWN} decisions`}
      error={error}
      again={refetch}
      isEmpty={isEmptyList(data?.decisions)}
      empty="Nothing was decided about a feature."
    >
      <table className="table">
        <thead>
          <tr>
            <th scope="col">When, UTC</th>
            <th scope="col">Decision</th>
            <th scope="col">Features</th>
            <th scope="col">Who, and why</th>
          </tr>
        </thead>
        <tbody>
          {data?.decisions.map(({ decision, kind, features, purpose, decided_at, decided_by, reason }) => (
            <tr key={decision}>
              <td>
                <Time at={decided_at} isShort />
              </td>
              <th scope="row">
                {kind}
                {purpose !== null && <span className="quiet"> for {purpose}</span>}
              </th>
              <td>
                <FeatureLinks features={features} />
              </td>
              <td>
                <Foreign text={decided_by} />
                <br />
                <span className="quiet">
                  <Foreign text={reason} />
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Part>
  );
}

type Backfill = Answer<"listBackfills">["backfills"][number];

function Backfills() {
  const scope = useScope("backfills.read");
  const { data, error, refetch } = useRead("listBackfills", { limit: SHOWN }, scope !== undefined);
  if (scope === undefined) return null;
  return (
    <Part
      id="backfills"
      title="Older events"
      error={error}
      again={refetch}
      isEmpty={isEmptyList(data?.backfills)}
      empty="No feature was computed for events from before its adoption: drs feature backfill start does that."
    >
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Purpose</th>
            <th scope="col">Events received, UTC</th>
            <th scope="col">State</th>
            <th scope="col">Computed</th>
            <th scope="col">Started by</th>
          </tr>
        </thead>
        <tbody>
          {data?.backfills.map((run) => (
            <tr key={run.run_id}>
              <th scope="row">{run.purpose}</th>
              <td>
                {run.from.startsWith("1970") ? "the beginning" : <Time at={run.from} isShort />} –{" "}
                <Time at={run.to} isShort />
              </td>
              <td>{stateOf(run)}</td>
              <td>
                <meter
                  min={0}
                  max={Math.max(1, run.events)}
                  value={run.computed}
                  aria-label="Share that was computed"
                />{" "}
                <span className="numbers">
                  {run.computed.toLocaleString()} of {run.events.toLocaleString()} events
                </span>
              </td>
              <td>
                <Foreign text={run.started_by} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Part>
  );
}

const stateOf = ({ state, remaining_seconds: seconds, balance }: Backfill): string => {
  const missing = balance.missing === 0 ? "" : `, ${balance.missing.toLocaleString()} missing without a reason`;
  return `${state}${state === "running" && seconds !== null ? `, ${span(seconds * 1_000)} left` : ""}${missing}`;
};

function Exports() {
  const scope = useScope("exports.read");
  const { data, error, refetch } = useRead("listExports", { limit: SHOWN }, scope !== undefined);
  if (scope === undefined) return null;
  return (
    <Part
      id="exports"
      title={`The last ${SHOWN} exports`}
      error={error}
      again={refetch}
      isEmpty={isEmptyList(data?.exports)}
      empty="Nothing was handed out."
    >
      <table className="table">
        <thead>
          <tr>
            <th scope="col">When, UTC</th>
            <th scope="col">To</th>
            <th scope="col">What</th>
            <th scope="col">Rows</th>
            <th scope="col">Expires</th>
            <th scope="col">Recalled rows</th>
          </tr>
        </thead>
        <tbody>
          {data?.exports.map((one) => (
            <tr key={one.export_id}>
              <td>
                <Time at={one.started_at} isShort />
              </td>
              <th scope="row">
                <Foreign text={one.recipient} />
              </th>
              <td>{one.features === null ? "exact events" : <FeatureLinks features={one.features} />}</td>
              <td className="numbers">{one.rows?.toLocaleString() ?? "not ended"}</td>
              <td className="numbers">
                {one.expires_on}
                {one.state === "expired" && ", expired"}
              </td>
              <td className="numbers">
                {one.recalled_rows === 0 ? "0" : `${one.recalled_rows.toLocaleString()} to be deleted by the recipient`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Part>
  );
}
