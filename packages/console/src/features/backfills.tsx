import type { Answer } from "@device-risk-signals/admin-api";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { call, keyOf, queryClient, useRead } from "../app/api.ts";
import { useScope } from "../app/session.tsx";
import { Actor } from "../ui/actor.tsx";
import { ActionDialog } from "../ui/action-dialog.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { span, Time } from "../ui/time.tsx";
import { isEmptyList, Part } from "./part.tsx";

type Backfill = Answer<"listBackfills">["backfills"][number];

const INPUT = { limit: 20 } as const;
/** How often the progress is read while a backfill runs. */
const POLL_MS = 2_000;

const isRunning = ({ state }: Backfill): boolean => state === "running";
const readAgain = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ["listBackfills"] });

/** Features of events that were stored before their adoption: what runs, how far it is, and whether nothing is missing. */
export function Backfills() {
  const scope = useScope("backfills.read");
  const canManage = useScope("backfills.manage") !== undefined;
  const [isStarting, setStarting] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: keyOf("listBackfills", INPUT),
    queryFn: () => call("listBackfills", INPUT),
    enabled: scope !== undefined,
    refetchInterval: ({ state }) => (state.data?.backfills.some(isRunning) ? POLL_MS : false),
  });
  if (scope === undefined) return null;
  return (
    <>
      <Part
        id="backfills"
        title="Older events"
        error={error}
        again={refetch}
        isEmpty={isEmptyList(data?.backfills)}
        empty="No feature was computed for events from before its adoption."
        actions={
          canManage && (
            <button type="button" className="button" onClick={() => setStarting(true)}>
              Compute for older events
            </button>
          )
        }
      >
        <table className="table table-wide">
          <thead>
            <tr>
              <th scope="col">Purpose</th>
              <th scope="col">Events received, UTC</th>
              <th scope="col">State</th>
              <th scope="col">Computed</th>
              <th scope="col">Started by</th>
              {canManage && <th scope="col">Change</th>}
            </tr>
          </thead>
          <tbody>
            {data?.backfills.map((run) => (
              <Row key={run.run_id} run={run} canManage={canManage} />
            ))}
          </tbody>
        </table>
      </Part>
      {isStarting && <Start close={() => setStarting(false)} />}
    </>
  );
}

const Row = ({ run, canManage }: { readonly run: Backfill; readonly canManage: boolean }) => (
  <tr>
    <th scope="row">{run.purpose}</th>
    <td>
      {run.from.startsWith("1970") ? "the beginning" : <Time at={run.from} isShort />} – <Time at={run.to} isShort />
    </td>
    <td>{stateOf(run)}</td>
    <td>
      <meter min={0} max={Math.max(1, run.events)} value={run.computed} aria-label="Share that was computed" />{" "}
      <span className="numbers">
        {run.computed.toLocaleString("en")} of {run.events.toLocaleString("en")} events
      </span>
      <Balance balance={run.balance} />
    </td>
    <td>
      <Actor text={run.started_by} />
      <br />
      <span className="quiet">
        <Foreign text={run.reason} />
      </span>
    </td>
    {canManage && (
      <td>
        <Change run={run} />
      </td>
    )}
  </tr>
);

const stateOf = ({ state, remaining_seconds: seconds, balance }: Backfill): string => {
  const missing = balance.missing === 0 ? "" : `, ${balance.missing.toLocaleString("en")} missing without a reason`;
  return `${state}${state === "running" && seconds !== null ? `, ${span(seconds * 1_000)} left` : ""}${missing}`;
};

const COUNTS: readonly (readonly [keyof Backfill["balance"], string])[] = [
  ["stored", "with values"],
  ["erased", "erased"],
  ["expired", "expired"],
  ["restricted", "excluded from analysis"],
  ["unreadable", "can't be opened"],
  ["failed", "failed"],
  ["missing", "missing without a reason"],
];

/** What became of the events: the numbers add up to all of them. */
function Balance({ balance }: Pick<Backfill, "balance">) {
  const parts = COUNTS.filter(([name]) => balance[name] > 0).map(
    ([name, words]) => `${balance[name].toLocaleString("en")} ${words}`,
  );
  return parts.length === 0 ? null : <p className="quiet small numbers">{parts.join(", ")}</p>;
}

const CHANGES = {
  running: [
    ["pauseBackfill", "Pause"],
    ["cancelBackfill", "Cancel"],
  ],
  paused: [
    ["resumeBackfill", "Resume"],
    ["cancelBackfill", "Cancel"],
  ],
  cancelled: [],
  done: [],
} as const;

type ChangeRoute = "pauseBackfill" | "resumeBackfill" | "cancelBackfill";

const EFFECTS: Readonly<Record<ChangeRoute, string>> = {
  pauseBackfill: "It stops after the events that are being computed, and can be resumed where it was.",
  resumeBackfill: "It continues where it was.",
  cancelBackfill: "It ends. What it has stored stays; the rest needs a new one.",
};

function Change({ run }: { readonly run: Backfill }) {
  const [asked, setAsked] = useState<readonly [ChangeRoute, string]>();
  return (
    <>
      {CHANGES[run.state].map(([route, words]) => (
        <button key={route} type="button" className="button row-action" onClick={() => setAsked([route, words])}>
          {words}
        </button>
      ))}
      {asked && (
        <ActionDialog
          title={`${asked[1]} the computation for ${run.purpose}`}
          action={asked[1]}
          failed="It was not changed"
          run={async () => {
            await call(asked[0], { run_id: run.run_id });
            await readAgain();
          }}
          close={() => setAsked(undefined)}
        >
          <p>{EFFECTS[asked[0]]}</p>
        </ActionDialog>
      )}
    </>
  );
}

/** Starts a backfill of the features that are computed now. */
function Start({ close }: { readonly close: () => void }) {
  const { data } = useRead("readLayers", {}, useScope("features.governance") !== undefined);
  const active = data?.layers.filter(({ ended_at }) => ended_at === null) ?? [];
  const purposes = [...new Set(active.map(({ purpose }) => purpose))];
  const field = useRef<HTMLInputElement>(null);
  return (
    <ActionDialog
      title="Compute features of older events"
      action="Start"
      failed="It was not started"
      reason={{ label: "Reason", isRequired: true, hint: "Recorded in the audit log: at least 8 characters." }}
      run={async (reason = "") => {
        await call("startBackfill", { purpose: field.current?.value.trim() ?? "", reason });
        await readAgain();
      }}
      close={close}
    >
      <p>
        Workers compute the features of a purpose for all its stored events that have no values yet, while no new events
        wait.
      </p>
      <label>
        Purpose
        <input
          ref={field}
          className="input"
          list="active-purposes"
          required
          maxLength={64}
          autoComplete="off"
          defaultValue={purposes.length === 1 ? purposes[0] : undefined}
        />
        <datalist id="active-purposes">
          {purposes.map((purpose) => (
            <option key={purpose} value={purpose} />
          ))}
        </datalist>
      </label>
    </ActionDialog>
  );
}
