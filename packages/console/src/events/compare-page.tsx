import type { Event } from "@device-risk-signals/admin-api";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { call, useRead } from "../app/api.ts";
import { Forbidden, useScope, useSession } from "../app/session.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { CompareHead, SideHead } from "./compare-head.tsx";
import { firstKind, type Kind, kindOf, KINDS, type Row } from "./comparison.ts";
import { fieldNameOf, probeOf, titleOf } from "./field-path.ts";
import { OpenCaseDialog } from "./open-case-dialog.tsx";
import { Outcome } from "./outcome.tsx";
import { type Case, nameOf, useCase } from "./use-case.tsx";
import { Value } from "./value.tsx";

export function ComparePage() {
  const { eventId, otherId } = useParams({ from: "/shell/events/$eventId/compare/$otherId" });
  const scope = useScope("events.observations");
  const one = useRead("readEvent", { event_id: eventId }, scope !== undefined);
  const other = useRead("readEvent", { event_id: otherId }, scope !== undefined);
  const error = one.error ?? other.error;
  if (scope === undefined || error || !one.data || !other.data) {
    return (
      <>
        <h1>What differs between two events</h1>
        {scope === undefined && <Forbidden permission="events.observations" what="Comparing events" />}
        {error && <Failure error={error} what="One of the two events can't be shown" />}
        {scope !== undefined && !error && <Skeleton lines={6} />}
      </>
    );
  }
  // The earlier event is on the left.
  const [left, right] = [one.data, other.data].toSorted((a, b) => a.received_at.localeCompare(b.received_at));
  return left && right ? <Compared left={left} right={right} /> : null;
}

function Compared({ left, right }: { readonly left: Event; readonly right: Event }) {
  const { person } = useSession();
  const known = useCase(person, [left, right], true);
  const [opened, setOpened] = useState<Case>();
  const [isAsking, setAsking] = useState(false);
  const under = opened ?? known;
  return (
    <article>
      <header className="page-head">
        <div>
          <p className="crumbs">
            <Link to="/events/$eventId" params={{ eventId: right.event_id }}>
              The later event
            </Link>
          </p>
          <h1>What differs between two events</h1>
        </div>
      </header>
      <CompareHead left={left} right={right} />
      {under ? (
        <Differences left={left} right={right} under={under} />
      ) : (
        <div className="closed">
          <p>The observations are sealed. Opening them writes your name and the case to the audit log.</p>
          <button type="button" className="button primary" onClick={() => setAsking(true)}>
            Open and compare
          </button>
        </div>
      )}
      {isAsking && (
        <OpenCaseDialog
          event={right}
          isForAccount={left.account === right.account}
          close={() => setAsking(false)}
          opened={(one) => (setAsking(false), setOpened(one))}
        />
      )}
    </article>
  );
}

interface DifferencesProps {
  readonly left: Event;
  readonly right: Event;
  readonly under: Case;
}

function Differences({ left, right, under }: DifferencesProps) {
  const [chosen, choose] = useState<Kind>();
  const input = { event_id: left.event_id, other_event_id: right.event_id, all: true, case_id: under.case_id };
  const { data, error, refetch } = useQuery({
    queryKey: ["compareEvents", input],
    queryFn: () => call("compareEvents", input),
    retry: false,
  });
  if (error) return <Failure error={error} what="The events can't be compared" again={() => void refetch()} />;
  if (!data) return <Skeleton lines={8} />;
  const [observed = [], envelope = []] = [true, false].map((is) =>
    (data.fields ?? []).filter(({ path }) => path.startsWith("/probes/") === is),
  );
  const byKind = Map.groupBy(observed, kindOf);
  const shown = chosen ?? firstKind(byKind);
  const rows = byKind.get(shown) ?? [];
  return (
    <>
      <p className="note">
        Under case <Foreign text={nameOf(under)} />: <Foreign text={under.reason} />
      </p>
      <div className="segments" role="group" aria-label="Show">
        {(Object.keys(KINDS) as readonly Kind[]).map((kind) => (
          <button key={kind} type="button" aria-pressed={shown === kind} onClick={() => choose(kind)}>
            {KINDS[kind].name} <span className="numbers">{byKind.get(kind)?.length ?? 0}</span>
          </button>
        ))}
      </div>
      {data.withheld.length > 0 && (
        <p className="note">
          {data.withheld.length} fields were not compared: your roles read fields of low and medium sensitivity.
        </p>
      )}
      {rows.length === 0 ? (
        <p className="empty">{KINDS[shown].none}</p>
      ) : (
        <Rows rows={rows} left={left} right={right} label={KINDS[shown].name} />
      )}
      <details>
        <summary>Members of the events themselves, which differ by their nature</summary>
        <Rows rows={envelope} left={left} right={right} label="Members of the events" />
      </details>
    </>
  );
}

interface RowsProps {
  readonly rows: readonly Row[];
  readonly left: Event;
  readonly right: Event;
  readonly label: string;
}

const Rows = ({ rows, left, right, label }: RowsProps) => (
  <div className="table-scroll" tabIndex={0} role="region" aria-label={label}>
    <table className="table compare-table">
      <thead>
        <tr>
          <th scope="col">Field</th>
          <SideHead event={left} which="Earlier" />
          <SideHead event={right} which="Later" />
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.path}>
            <th scope="row">
              <FieldName path={row.path} />
            </th>
            <td>
              <Side side={row.left} />
            </td>
            <td>
              <Side side={row.right} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** A field as the page of an event shows it: below its probe. */
function FieldName({ path }: { readonly path: string }) {
  const probe = probeOf(path);
  const name = fieldNameOf(path);
  return (
    <>
      {probe !== "" && <Foreign text={titleOf(probe)} />}
      {name !== "" && (
        <span className="field-name">
          <Foreign text={name} isCode />
        </span>
      )}
    </>
  );
}

function Side({ side }: { readonly side: Row["left"] }) {
  switch (side.state) {
    case "observed":
      return <Value value={side.value} />;
    case "success":
      return <Outcome state="observed" />;
    case "skipped":
      return <Outcome state="skipped" reason={side.reason} />;
    case "error":
      return <Outcome state="error" reason={side.error} />;
    default:
      return <Outcome state={side.state} />;
  }
}
