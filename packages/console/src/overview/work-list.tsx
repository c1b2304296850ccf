import type { Answer } from "@device-risk-signals/admin-api";
import { Link } from "@tanstack/react-router";
import { useRead } from "../app/api.ts";
import { useScope } from "../app/session.tsx";
import { Actor } from "../ui/actor.tsx";
import { Failure } from "../ui/failure.tsx";
import { span } from "../ui/time.tsx";

type Work = Answer<"listWork">["work"][number];

const KINDS: Readonly<Record<Work["kind"], string>> = {
  approval: "Approval",
  backfill: "Features of older events",
  erasure: "Erasure",
  export: "Export",
  extraction: "Features of new events",
  hold: "Legal hold",
  order: "Order",
  retention: "Deletion of what expired",
  rotation: "Change of the encryption key",
  verification: "Verification of the audit log",
};

/** Where a person sees the work, and acts. */
const PAGES: Readonly<
  Partial<Record<Work["kind"], "/approvals" | "/audit" | "/erasures" | "/features" | "/holds" | "/purposes">>
> = {
  approval: "/approvals",
  backfill: "/features",
  erasure: "/erasures",
  export: "/features",
  extraction: "/features",
  hold: "/holds",
  retention: "/purposes",
  verification: "/audit",
};

function Kind({ kind }: Pick<Work, "kind">) {
  const page = PAGES[kind];
  return page ? <Link to={page}>{KINDS[kind]}</Link> : KINDS[kind];
}

/** What runs or waits; nothing for a person whose roles do not see it. */
export function WorkList() {
  const scope = useScope("work.read");
  const { data, error, refetch } = useRead("listWork", {}, scope !== undefined);
  if (scope === undefined) return null;
  return (
    <section aria-labelledby="work">
      <div className="section-head">
        <h2 id="work">Work under way</h2>
        {data && (
          <button type="button" className="button quiet-button" onClick={() => void refetch()}>
            Look again
          </button>
        )}
      </div>
      {error && <Failure error={error} what="The work could not be listed" again={() => void refetch()} />}
      {data?.work.length === 0 && <p className="quiet">Nothing runs, and nothing waits.</p>}
      {data && data.work.length > 0 && (
        <div className="table-scroll" tabIndex={0} role="region" aria-label="Pieces of work">
          <table className="table table-wide work-table">
            <thead>
              <tr>
                <th scope="col">What</th>
                <th scope="col">State</th>
                <th scope="col">Progress</th>
                <th scope="col">Age</th>
                <th scope="col">Started by</th>
                <th scope="col">Waits for</th>
              </tr>
            </thead>
            <tbody>
              {data.work.map((work, index) => (
                <tr key={index}>
                  <th scope="row">
                    <Kind kind={work.kind} />
                  </th>
                  <td>{work.state === "running" ? "runs" : "waits"}</td>
                  <td className="numbers">{progressOf(work)}</td>
                  <td className="numbers">{work.age_seconds === null ? "" : span(work.age_seconds * 1_000)}</td>
                  <td>{work.started_by === null ? "" : <Actor text={work.started_by} />}</td>
                  <td className="quiet">{work.waits_for}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {data && data.more.length > 0 && (
        <p className="quiet">There is more of: {data.more.map((kind) => KINDS[kind].toLowerCase()).join(", ")}.</p>
      )}
    </section>
  );
}

function progressOf({ done, of, unit }: Work): string {
  if (done === null) return of === null ? "" : `${of.toLocaleString()} ${unit}`;
  return of === null
    ? `${done.toLocaleString()} ${unit}`
    : `${done.toLocaleString()} of ${of.toLocaleString()} ${unit}`;
}
