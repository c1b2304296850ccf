import { Link } from "@tanstack/react-router";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { PageHead } from "../ui/page-head.tsx";
import { span, Time } from "../ui/time.tsx";
import { Backfills } from "./backfills.tsx";
import { DecisionList, FeatureLinks } from "./decision-list.tsx";
import { isEmptyList, Part } from "./part.tsx";

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
      <DecisionList decisions={data?.decisions ?? []} />
    </Part>
  );
}

function Exports() {
  const scope = useScope("exports.read");
  const canExport = useScope("exports.features") !== undefined;
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
      actions={
        canExport && (
          <Link to="/features/export" className="button">
            Export values
          </Link>
        )
      }
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
