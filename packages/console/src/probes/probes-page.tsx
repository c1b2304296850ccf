import type { Answer, OutcomeGroup } from "@device-risk-signals/admin-api";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { OUTCOMES } from "../events/outcome.tsx";
import { PROBES, titleOf } from "../events/field-path.ts";
import { DaysPicker, startOf } from "../ui/days.tsx";
import { Failure } from "../ui/failure.tsx";
import { PageHead } from "../ui/page-head.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { type Counts, describe, OutcomeBar, percent, type State, STATES, totalOf, wordOf } from "./outcome-bar.tsx";
import { GROUPS } from "./probes-search.ts";

/** Shares of fewer events say little. */
const FEW = 50;
/** Columns beyond these are summed up in words. */
const MAX_GROUPS = 12;

export function ProbesPage() {
  const search = useSearch({ from: "/shell/probes" });
  const { days = 7, by = "sdk_version" } = search;
  const navigate = useNavigate({ from: "/probes" });
  const scope = useScope("counters.read");
  const { data, error, refetch } = useRead("summarizeOutcomes", { by, from: startOf(days) }, scope !== undefined);
  return (
    <>
      <PageHead title="Probe health" what="How often each probe reported, was skipped, timed out or failed.">
        <div className="segments" role="group" aria-label="Columns">
          {(Object.keys(GROUPS) as readonly OutcomeGroup[]).map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={by === one}
              onClick={() =>
                void navigate({
                  search: { ...search, by: one, probe: undefined, group: undefined } as never,
                  replace: true,
                })
              }
            >
              {GROUPS[one]}
            </button>
          ))}
        </div>
        <DaysPicker
          days={days}
          choose={(chosen) => void navigate({ search: { ...search, days: chosen }, replace: true })}
        />
      </PageHead>
      {scope === undefined && <Forbidden permission="counters.read" what="Probe health" />}
      {error && <Failure error={error} what="The outcomes could not be read" again={() => void refetch()} />}
      {scope !== undefined && !error && !data && <Skeleton lines={8} />}
      {data && (data.outcomes.length === 0 ? <None /> : <Matrix answer={data} by={by} />)}
      {data?.more && <p className="note">There are more groups than these: choose a shorter time.</p>}
    </>
  );
}

const None = () => (
  <div className="empty">
    <h2>No event in this time</h2>
    <p className="quiet">The outcomes of a stored event are counted here within ten seconds.</p>
  </div>
);

type Cells = ReadonlyMap<string, ReadonlyMap<string, Counts>>;

/** Counts by probe, then by group. */
function cellsOf({ outcomes }: Answer<"summarizeOutcomes">): Cells {
  const cells = new Map<string, Map<string, Counts>>();
  for (const { probe, group, state, occurrences } of outcomes) {
    const row = cells.get(probe) ?? new Map<string, Counts>();
    cells.set(probe, row.set(group, { ...row.get(group), [state]: occurrences }));
  }
  return cells;
}

interface MatrixProps {
  readonly answer: Answer<"summarizeOutcomes">;
  readonly by: OutcomeGroup;
}

function Matrix({ answer, by }: MatrixProps) {
  const { probe, group } = useSearch({ from: "/shell/probes" });
  const cells = cellsOf(answer);
  const all = [...new Set(answer.outcomes.map((one) => one.group))];
  // The newest versions and days are last in the order of their names.
  const groups = all.slice(-MAX_GROUPS);
  const order = [...PROBES.keys()].filter((id) => cells.has(id));
  const probes = [...order, ...[...cells.keys()].filter((id) => !PROBES.has(id))];
  const chosen = probe === undefined || group === undefined ? undefined : cells.get(probe)?.get(group);
  return (
    <>
      <Legend />
      {all.length > groups.length && (
        <p className="quiet">
          The last {groups.length} of {all.length} columns are shown.
        </p>
      )}
      <div className="table-scroll" tabIndex={0} role="region" aria-label="Outcomes by probe">
        <table className="table matrix">
          <thead>
            <tr>
              <th scope="col">Probe</th>
              {groups.map((name) => (
                <th key={name} scope="col" className="numbers">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {probes.map((id) => (
              <tr key={id}>
                <th scope="row">{id === "other" ? "Probes that the catalog does not know" : titleOf(id)}</th>
                {groups.map((name) => (
                  <Cell
                    key={name}
                    probe={id}
                    group={name}
                    counts={cells.get(id)?.get(name)}
                    isChosen={id === probe && name === group}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {probe !== undefined && group !== undefined && chosen && (
        <Detail probe={probe} group={group} counts={chosen} by={by} />
      )}
    </>
  );
}

const Legend = () => (
  <p className="legend">
    {STATES.map((state) => (
      <span key={state} className={`outcome outcome-${state === "success" ? "observed" : state}`}>
        <span className="outcome-mark" aria-hidden="true">
          {OUTCOMES[state === "success" ? "observed" : state].mark}
        </span>
        {wordOf(state)}
      </span>
    ))}
    <span className="quiet">The number is of events; below {FEW}, shares say little.</span>
  </p>
);

interface CellProps {
  readonly probe: string;
  readonly group: string;
  readonly counts: Counts | undefined;
  readonly isChosen: boolean;
}

function Cell({ probe, group, counts, isChosen }: CellProps) {
  if (!counts) return <td className="quiet">–</td>;
  const total = totalOf(counts);
  return (
    <td className={total < FEW ? "few" : undefined}>
      <Link
        to="/probes"
        search={(before: object) => ({ ...before, probe, group })}
        replace
        resetScroll={false}
        className="matrix-cell"
        aria-current={isChosen ? "true" : undefined}
        title={describe(counts)}
      >
        <OutcomeBar counts={counts} />
        <span className="numbers quiet small">{total.toLocaleString()}</span>
      </Link>
    </td>
  );
}

interface DetailProps {
  readonly probe: string;
  readonly group: string;
  readonly counts: Counts;
  readonly by: OutcomeGroup;
}

/** A filter that both the list of events and the summary of outcomes have. */
interface EventFilter {
  readonly sdk_version?: string;
  readonly platform?: "android" | "ios";
}

const dayOf = (day: string) => ({
  from: `${day}T00:00:00.000Z`,
  to: new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString(),
});

/** The filter of the events of a group, as far as there is one. */
function eventsOf(by: OutcomeGroup, group: string): EventFilter {
  if (by === "sdk_version") return { sdk_version: group };
  return by === "day" ? {} : { platform: group.split(" ")[0] as "android" | "ios" };
}

function Detail({ probe, group, counts, by }: DetailProps) {
  const { days = 7 } = useSearch({ from: "/shell/probes" });
  const total = totalOf(counts);
  const time = by === "day" ? dayOf(group) : { from: startOf(days) };
  const filter = eventsOf(by, group);
  return (
    <section className="detail" aria-labelledby="detail">
      <h2 id="detail">
        {titleOf(probe)}, {group}
      </h2>
      <p className="quiet">{PROBES.get(probe)?.meaning}</p>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Outcome</th>
            <th scope="col">Events</th>
            <th scope="col">Share</th>
            <th scope="col">Meaning</th>
          </tr>
        </thead>
        <tbody>
          {STATES.map((state: State) => (
            <tr key={state}>
              <td>{wordOf(state)}</td>
              <td className="numbers">{(counts[state] ?? 0).toLocaleString()}</td>
              <td className="numbers">{percent(counts[state] ?? 0, total)}</td>
              <td className="quiet">{OUTCOMES[state === "success" ? "observed" : state].what}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {by === "sdk_version" && <Shares title="By OS version" probe={probe} by="os" filter={filter} />}
      {by !== "day" && (
        <Shares
          title={`By day${by === "os" ? ", all versions of the platform" : ""}`}
          probe={probe}
          by="day"
          filter={filter}
        />
      )}
      <p>
        <Link to="/events" search={{ ...time, ...filter }}>
          Example events
        </Link>{" "}
        <span className="quiet">
          of this {by === "os" ? "platform, in any version" : GROUPS[by].toLowerCase()}. Which of them had this outcome
          is in their sealed part: choose a day with many, and open them.
        </span>
      </p>
    </section>
  );
}

interface SharesProps {
  readonly title: string;
  readonly probe: string;
  readonly by: "day" | "os";
  readonly filter: EventFilter;
}

/** The outcomes of one probe by day or by version of the OS. */
function Shares({ title, probe, by, filter }: SharesProps) {
  const { days = 7 } = useSearch({ from: "/shell/probes" });
  const { data } = useRead("summarizeOutcomes", { by, probe, from: startOf(days), ...filter });
  if (!data) return null;
  const row = cellsOf(data).get(probe) ?? new Map<string, Counts>();
  return (
    <table className="table trend">
      <caption className="quiet">{title}</caption>
      <tbody>
        {[...row].map(([group, counts]) => (
          <tr key={group}>
            <th scope="row" className="numbers">
              {by === "os" ? (
                group
              ) : (
                <Link to="/events" search={{ ...dayOf(group), ...filter }}>
                  {group}
                </Link>
              )}
            </th>
            <td>
              <OutcomeBar counts={counts} />
            </td>
            <td className="numbers quiet">{totalOf(counts).toLocaleString()}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
