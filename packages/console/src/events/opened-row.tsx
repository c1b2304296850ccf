import { describeProbes } from "@device-risk-signals/contract/observations";
import { deviceOf } from "@device-risk-signals/contract/observations/device";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { Foreign, visible } from "../ui/foreign.tsx";
import { PROBES, titleOf } from "./field-path.ts";
import { anchorOf } from "./observations.tsx";
import { OUTCOMES } from "./outcome.tsx";
import type { Opened } from "./opened.ts";

/** What an opened event says in one line: its device in words, and the outcome of each probe. */
export function OpenedRow({ opened, columns }: { readonly opened: Opened; readonly columns: number }) {
  const { observations, event } = opened;
  const { device, probes } = useMemo(() => {
    const raw = observations as Readonly<Record<string, unknown>>;
    return { device: deviceOf(raw), probes: describeProbes(raw) };
  }, [observations]);
  const known = probes.map((one, index) => ({ ...one, index })).filter(({ probe }) => PROBES.has(probe));
  const unknown = probes.length - known.length;
  const counts = Object.entries(Object.groupBy(probes, ({ state }) => state));
  return (
    <tr className="opened-row">
      <td colSpan={columns}>
        <div>
          <span className="visually-hidden">
            Probes: {counts.map(([state, { length }]) => `${length} ${state}`).join(", ")}.
          </span>
          <span className="small-strip" aria-hidden="true">
            {known.map(({ probe, state, reason, index }) => (
              <Link
                key={probe}
                to="/events/$eventId"
                params={{ eventId: event.event_id }}
                hash={anchorOf(index)}
                // The row's first link leads to the same page, where each probe is reached by keyboard.
                tabIndex={-1}
                className={`cell outcome-${state}`}
                title={visible(`${titleOf(probe)}: ${OUTCOMES[state].word}${reason === null ? "" : `, ${reason}`}`)}
              >
                {OUTCOMES[state].mark}
              </Link>
            ))}
          </span>
          {/* A client can send thousands. The page of the event has them all. */}
          {unknown > 0 && <span className="quiet">+{unknown.toLocaleString("en")} unknown</span>}
          <span>
            {device === null ? <span className="quiet">The event names no device</span> : <Foreign text={device} />}
            {event.app_version !== "" && (
              <>
                , app <Foreign text={event.app_version} />
              </>
            )}
          </span>
        </div>
      </td>
    </tr>
  );
}
