import type { Answer } from "@device-risk-signals/admin-api";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { call, keyOf } from "../app/api.ts";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import type { Described } from "./shares.tsx";

interface SameEventsProps {
  readonly left: Described;
  readonly right: Described;
}

/** Both versions, computed again for the same stored events: which results moved. */
export function SameEvents({ left, right }: SameEventsProps) {
  const { purpose } = useSearch({ from: "/shell/features/$feature/compare/$other" });
  const navigate = useNavigate({ from: "/features/$feature/compare/$other" });
  const purposes = left.purposes.filter((one) => right.purposes.includes(one));
  return (
    <section aria-labelledby="same">
      <div className="section-head">
        <h2 id="same">For the same events</h2>
        <span className="quiet">computed now from stored events, and audited; a version need not be adopted</span>
      </div>
      {purposes.length === 0 && <p>The definitions name no purpose in common, so no event may be read for both.</p>}
      <div className="buttons">
        {purposes.map((one) => (
          <button
            key={one}
            type="button"
            className="button"
            aria-pressed={one === purpose}
            onClick={() => void navigate({ search: { purpose: one }, replace: true, resetScroll: false })}
          >
            Compute both for the events of {one}
          </button>
        ))}
      </div>
      {purpose !== undefined && <Moved before={left.feature} after={right.feature} purpose={purpose} />}
    </section>
  );
}

/** Computing two versions for all stored events takes minutes. */
const TIMEOUT_MS = 1_800_000;

interface MovedProps {
  readonly before: string;
  readonly after: string;
  readonly purpose: string;
}

function Moved({ before, after, purpose }: MovedProps) {
  const input = { before, after, purpose };
  const { data, error, refetch } = useQuery({
    queryKey: keyOf("compareFeatures", input),
    queryFn: () => call("compareFeatures", input, { timeoutMs: TIMEOUT_MS }),
    retry: false,
  });
  if (error) return <Failure error={error} what="They could not be computed" again={() => void refetch()} />;
  if (!data) return <Skeleton lines={5} />;
  const [same, moved] = [true, false].map((isSame) =>
    data.cells.filter((cell) => (cell.before === cell.after) === isSame),
  );
  return (
    <>
      <p className="numbers moved" role="status">
        {data.events === null ? "Events" : `${data.events.toLocaleString("en")} events`} of {purpose}
        {data.undecided !== 0 && `; ${data.undecided?.toLocaleString("en") ?? "a few"} could not be computed`}.{" "}
        <span className="quiet">Numbers below ten, and those that would tell them, are not shown.</span>
      </p>
      {moved?.length === 0 ? (
        <p>
          <strong>Every event has the same result in both versions.</strong>
        </p>
      ) : (
        <Cells title="Results that differ" cells={moved ?? []} before={before} after={after} />
      )}
      <details>
        <summary>Results that are the same</summary>
        <Cells title="Results that are the same" cells={same ?? []} before={before} after={after} />
      </details>
    </>
  );
}

interface CellsProps {
  readonly title: string;
  readonly cells: Answer<"compareFeatures">["cells"];
  readonly before: string;
  readonly after: string;
}

const Cells = ({ title, cells, before, after }: CellsProps) => (
  <div className="table-scroll" tabIndex={0} role="region" aria-label={title}>
    <table className="table group-table">
      <thead>
        <tr>
          <th scope="col">
            <Foreign text={before} isCode />
          </th>
          <th scope="col">
            <Foreign text={after} isCode />
          </th>
          <th scope="col">Events</th>
          <th scope="col">Platform</th>
          <th scope="col">SDK</th>
        </tr>
      </thead>
      <tbody>
        {cells
          .toSorted((one, other) => (other.events ?? -1) - (one.events ?? -1))
          .map((cell) => (
            <tr key={JSON.stringify([cell.platform, cell.sdk_version, cell.before, cell.after])}>
              <td>
                <Foreign text={cell.before} />
              </td>
              <td>
                <Foreign text={cell.after} />
              </td>
              <td className="numbers">{cell.events?.toLocaleString("en") ?? "not shown"}</td>
              <td>{cell.platform}</td>
              <td>
                <Foreign text={cell.sdk_version} />
              </td>
            </tr>
          ))}
      </tbody>
    </table>
  </div>
);
