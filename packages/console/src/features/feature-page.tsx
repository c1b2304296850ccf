import type { Answer } from "@device-risk-signals/admin-api";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { PageHead } from "../ui/page-head.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { BYS, type By } from "./feature-search.ts";

type Described = Answer<"describeFeature">;
type Share = Described["days"][number]["states"][number];

/** How often a version of a feature had each state and value. */
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
      {data && <Distribution described={data} />}
    </>
  );
}

function Distribution({ described }: { readonly described: Described }) {
  const { from, to, groups, days, is_limited: isLimited, output, unit } = described;
  const bound = output === "count" || output === "number" ? ", at least" : "";
  const valueHead = `Observed value${bound}${unit === null ? "" : ` (${unit})`}`;
  return (
    <>
      <p className="note">
        Events received from {from} until before {to}, as they were when they were computed. Numbers are rounded down to
        tens; groups of fewer than ten events are not shown.{isLimited && " There are more groups than these."}
      </p>
      {groups.length === 0 && (
        <p className="empty">No group of ten events or more: values appear as a worker computes them.</p>
      )}
      {groups.map(({ platform, sdk_version, events, states, values }) => {
        const name = [platform, sdk_version].filter((part) => part !== null).join(", ") || "All events";
        return (
          <section key={name} className="distribution" aria-label={name}>
            <h2>
              <Foreign text={name} /> <span className="quiet numbers">{countOf(events)} events</span>
            </h2>
            <Shares head="State" shares={states} />
            <Shares head={valueHead} shares={values} />
          </section>
        );
      })}
      {days.length > 0 && <Days days={days} />}
    </>
  );
}

const countOf = (events: number | null): string => events?.toLocaleString() ?? "under 10";
const percentOf = ({ share }: Share): string => (share === null ? "too few" : `${Math.round(share * 1_000) / 10} %`);

function Shares({ head, shares }: { readonly head: string; readonly shares: readonly Share[] }) {
  if (shares.length === 0) return null;
  return (
    <table className="table shares">
      <thead>
        <tr>
          <th scope="col">{head}</th>
          <th scope="col">Share</th>
          <th scope="col">Events</th>
        </tr>
      </thead>
      <tbody>
        {shares.map((share) => (
          <tr key={share.name}>
            <th scope="row">
              <Foreign text={share.name} isCode />
            </th>
            <td>
              {share.share !== null && <meter value={share.share} aria-label={`Share of ${share.name}`} />}{" "}
              <span className="numbers">{percentOf(share)}</span>
            </td>
            <td className="numbers">{countOf(share.events)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Days({ days }: { readonly days: Described["days"] }) {
  const states = [...new Set(days.flatMap((day) => day.states.map(({ name }) => name)))];
  return (
    <section aria-labelledby="days">
      <div className="section-head">
        <h2 id="days">By day</h2>
        <span className="quiet">all groups together, in UTC</span>
      </div>
      <div className="table-scroll" tabIndex={0} role="region" aria-label="States by day">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col">Events</th>
              {states.map((name) => (
                <th key={name} scope="col">
                  <Foreign text={name} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.map((day) => (
              <tr key={day.day}>
                <th scope="row" className="numbers">
                  {day.day}
                </th>
                <td className="numbers">{countOf(day.events)}</td>
                {states.map((name) => {
                  const share = day.states.find((one) => one.name === name);
                  return (
                    <td key={name} className="numbers">
                      {share ? percentOf(share) : ""}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
