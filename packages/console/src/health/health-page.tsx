import type { Answer } from "@device-risk-signals/admin-api";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { bytes } from "../ui/bytes.ts";
import { Failure } from "../ui/failure.tsx";
import { PageHead } from "../ui/page-head.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { WorkList } from "../overview/work-list.tsx";

type Finding = Answer<"readHealth">["findings"][number];

export function HealthPage() {
  const scope = useScope("health.read");
  const health = useRead("readHealth", {}, scope !== undefined);
  const capacity = useRead("readCapacity", {}, scope !== undefined);
  const again = (): void => {
    void health.refetch();
    void capacity.refetch();
  };
  return (
    <>
      <PageHead
        title="Health"
        what="What the server needs, whether it has it, what is overdue, and when the disk is full."
      >
        <button type="button" className="button" disabled={health.isFetching} onClick={again}>
          Examine again
        </button>
      </PageHead>
      {scope === undefined && <Forbidden permission="health.read" what="The health of the server" />}
      {health.error && <Failure error={health.error} what="The server could not be examined" again={again} />}
      {scope !== undefined && !health.error && !health.data && <Skeleton lines={8} />}
      {health.data && <Findings findings={health.data.findings} at={health.dataUpdatedAt} />}
      {health.data && <Dependencies findings={health.data.findings} />}
      {capacity.error && <Failure error={capacity.error} what="The capacity could not be read" again={again} />}
      {capacity.data && <Capacity capacity={capacity.data} />}
      <WorkList />
    </>
  );
}

const levelOf = ({ ok, severity }: Finding): "failed" | "warning" | "advice" | "ok" =>
  ok ? (severity ?? "ok") : "failed";

const LEVELS = {
  failed: { mark: "✕", word: "to do now", className: "outcome-error" },
  warning: { mark: "!", word: "to do soon", className: "outcome-timeout" },
  advice: { mark: "i", word: "advice", className: "outcome-skipped" },
  ok: { mark: "✓", word: "in order", className: "outcome-observed" },
} as const;

const ORDER = Object.keys(LEVELS);

function Findings({ findings, at }: { readonly findings: readonly Finding[]; readonly at: number }) {
  const sorted = findings.toSorted((a, b) => ORDER.indexOf(levelOf(a)) - ORDER.indexOf(levelOf(b)));
  const told = sorted.filter((finding) => levelOf(finding) !== "ok");
  const inOrder = sorted.filter((finding) => levelOf(finding) === "ok");
  const failed = findings.filter(({ ok }) => !ok).length;
  return (
    <section aria-labelledby="findings">
      <div className="section-head">
        <h2 id="findings">{failed === 0 ? "Nothing has to be done at once" : `${failed} to do now`}</h2>
        <span className="quiet">
          examined at <Time at={new Date(at).toISOString()} isShort /> UTC
        </span>
      </div>
      {told.length > 0 && <FindingTable findings={told} />}
      {inOrder.length > 0 && (
        <details className="in-order">
          <summary>
            {inOrder.length} {inOrder.length === 1 ? "check is" : "checks are"} in order
          </summary>
          <FindingTable findings={inOrder} />
        </details>
      )}
    </section>
  );
}

/** How long each dependency took to answer this time. */
function Dependencies({ findings }: { readonly findings: readonly Finding[] }) {
  const asked = findings.filter(({ took_ms }) => took_ms !== undefined);
  const slowestFirst = asked.toSorted((a, b) => (b.took_ms ?? 0) - (a.took_ms ?? 0));
  return (
    <section aria-labelledby="dependencies">
      <div className="section-head">
        <h2 id="dependencies">Dependencies</h2>
        <span className="quiet">each asked once now, the slowest first</span>
      </div>
      <dl className="facts">
        {slowestFirst.map(({ what, ok, took_ms = 0 }, index) => (
          <div key={index}>
            <dt>{what}</dt>
            <dd className="numbers">
              {ok ? "answered in" : "failed after"} {took_ms.toLocaleString()} ms
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const FindingTable = ({ findings }: { readonly findings: readonly Finding[] }) => (
  <table className="table checks">
    <thead className="visually-hidden">
      <tr>
        <th scope="col">State</th>
        <th scope="col">What</th>
        <th scope="col">Finding, and what to run</th>
      </tr>
    </thead>
    <tbody>
      {findings.map((finding, index) => {
        const { mark, word, className } = LEVELS[levelOf(finding)];
        return (
          <tr key={index}>
            <td>
              <span className={`outcome ${className}`}>
                <span className="outcome-mark" aria-hidden="true">
                  {mark}
                </span>
                {word}
              </span>
            </td>
            <th scope="row">{finding.what}</th>
            <td className="foreign">{finding.detail}</td>
          </tr>
        );
      })}
    </tbody>
  </table>
);

function Capacity({ capacity: { disk, partitions, locks } }: { readonly capacity: Answer<"readCapacity"> }) {
  return (
    <section aria-labelledby="capacity">
      <div className="section-head">
        <h2 id="capacity">Capacity</h2>
        <span className="quiet">at the rate of the last seven days</span>
      </div>
      <dl className="facts">
        <div>
          <dt>The disk is full</dt>
          <dd>{runwayOf(disk)}</dd>
        </div>
        <div>
          <dt>Database</dt>
          <dd className="numbers">
            {bytes(disk.database_bytes)}, and {bytes(disk.bytes_per_day)} more a day
          </dd>
        </div>
        <div>
          <dt>Free</dt>
          <dd className="numbers">
            {disk.free_bytes === null ? "unknown: set DRS_DATABASE_DISK_BYTES" : bytes(disk.free_bytes)}
          </dd>
        </div>
        <div>
          <dt>Events a day</dt>
          <dd className="numbers">{Math.round(disk.events_per_day).toLocaleString()}</dd>
        </div>
        <div>
          <dt>Partitions of events</dt>
          <dd className="numbers">
            {partitions.partitions.toLocaleString()}
            {partitions.missing.length > 0 && `, and ${partitions.missing.length} that were not made in advance`}
            {partitions.overdue > 0 && `, ${partitions.overdue} of them expired and not yet dropped`}
          </dd>
        </div>
        <div>
          <dt>Locks of a statement over all partitions</dt>
          <dd className="numbers">
            {locks.needed.toLocaleString()} of {locks.available.toLocaleString()}
          </dd>
        </div>
      </dl>
    </section>
  );
}

function runwayOf({ days, free_bytes: free }: Answer<"readCapacity">["disk"]): string {
  if (days !== null) return `in ${Math.floor(days).toLocaleString()} days`;
  return free === null ? "unknown" : "never at this rate: what expires makes room";
}
