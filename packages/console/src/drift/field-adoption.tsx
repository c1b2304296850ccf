import { Link } from "@tanstack/react-router";
import { useRead } from "../app/api.ts";
import { useScope } from "../app/session.tsx";
import { PROBES } from "../events/field-path.ts";
import { Foreign } from "../ui/foreign.tsx";
import { Time } from "../ui/time.tsx";
import { byDay, byVersion, eventsOf, type Seen } from "./adoption.ts";
import { DayBars } from "./day-bars.tsx";
import { declaredField } from "./declared-field.ts";

interface AdoptionProps {
  readonly path: string;
  readonly seen: readonly Seen[];
}

/** Which events have a path: by day, and by SDK version. */
export function Adoption({ path, seen }: AdoptionProps) {
  const days = byDay(seen);
  return (
    <section aria-labelledby="adoption">
      <div className="section-head">
        <h2 id="adoption">Adoption</h2>
        {days.length > 0 && (
          <span className="quiet">
            events with it {declaredField(path) && "as another type "}by day in UTC, up to {days.at(-1)?.day}
          </span>
        )}
      </div>
      {days.length === 0 ? (
        <p className="quiet">
          No event had it beside the catalog.{" "}
          {declaredField(path) && (
            <>
              How often its probe reported: <Link to="/probes">Probe health</Link>.
            </>
          )}
        </p>
      ) : (
        <>
          <figure className="trend-figure">
            <DayBars days={days} />
            <figcaption className="quiet small numbers trend-axis">
              <span>{days[0]?.day}</span>
              <span>{days.at(-1)?.day}</span>
            </figcaption>
          </figure>
          <Versions path={path} seen={seen} />
        </>
      )}
    </section>
  );
}

/** Days whose outcomes a summary can have. */
const MAX_DAYS = 92;
const DAY_MS = 86_400_000;

/** The share of the reports of the probe that have the field, by SDK version since the field was first seen. */
function useReports(path: string, seen: readonly Seen[]): ReadonlyMap<string, number> {
  const probe = path.split(".")[0] ?? "";
  const first = seen.map(({ first_seen }) => first_seen).toSorted()[0] ?? "";
  const isCounted = PROBES.has(probe) && Date.parse(first) > Date.now() - MAX_DAYS * DAY_MS;
  const canRead = useScope("counters.read") !== undefined;
  const input = { by: "sdk_version", probe, from: first } as const;
  const { data } = useRead("summarizeOutcomes", input, isCounted && canRead);
  const reports = data?.outcomes.filter(({ state }) => state === "success") ?? [];
  return new Map(reports.map(({ group, occurrences }) => [group, occurrences]));
}

function Versions({ path, seen }: AdoptionProps) {
  const reports = useReports(path, seen);
  const canList = useScope("events.list") !== undefined;
  return (
    <div className="table-scroll" tabIndex={0} role="region" aria-label="Adoption by SDK version">
      <table className="table group-table">
        <thead>
          <tr>
            <th scope="col">SDK</th>
            <th scope="col">Events</th>
            <th scope="col">Of the reports of its probe since then</th>
            <th scope="col">Types</th>
            <th scope="col">Platforms</th>
            <th scope="col">First and last seen, UTC</th>
          </tr>
        </thead>
        <tbody>
          {byVersion(seen).map(([version, rows]) => {
            const events = eventsOf(rows);
            const of = reports.get(version) ?? 0;
            // The two counters are written at different moments.
            const share = of === 0 ? undefined : Math.min(1, events / of);
            return (
              <tr key={version}>
                <th scope="row">
                  {canList ? (
                    <Link to="/events" search={{ sdk_version: version }} title="Events of this SDK version">
                      <Foreign text={version} />
                    </Link>
                  ) : (
                    <Foreign text={version} />
                  )}
                </th>
                <td className="numbers">{events.toLocaleString("en")}</td>
                <td>
                  {share === undefined ? (
                    <span className="quiet">not known</span>
                  ) : (
                    <>
                      <meter value={share} aria-label={`Share of the reports of ${version}`} />{" "}
                      <span className="numbers">{Math.round(share * 100)} %</span>
                    </>
                  )}
                </td>
                <td>{[...new Set(rows.map(({ json_type }) => json_type))].join(", ")}</td>
                <td>{[...new Set(rows.map(({ platform }) => platform))].join(", ")}</td>
                <td>
                  <Time at={rows.map(({ first_seen }) => first_seen).toSorted()[0] ?? ""} isShort /> –{" "}
                  <Time
                    at={
                      rows
                        .map(({ last_seen }) => last_seen)
                        .toSorted()
                        .at(-1) ?? ""
                    }
                    isShort
                  />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
