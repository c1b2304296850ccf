import type { Answer } from "@device-risk-signals/admin-api";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Time } from "../ui/time.tsx";
import { wordsOfOutcome } from "./outcome-words.ts";

type Timeline = Answer<"readTimeline">;
type Entry = Timeline["entries"][number];

interface KeyTimelineProps {
  readonly account: string;
  readonly timeline: Timeline;
  readonly again: () => void;
}

/** What happened to a key: first in one look, then entry by entry. */
export function KeyTimeline({ account, timeline, again }: KeyTimelineProps) {
  const { state, erased_at, entries } = timeline;
  if (state === "erased") {
    return (
      <div className="empty">
        <h2>The event was erased</h2>
        <p>
          Since <Time at={erased_at ?? ""} />, only a keyed hash of the key is left. It answers the same request with
          the old id, and refuses another one, until the replay window ends.
        </p>
        <p className="quiet">What the key did before the erasure is no longer known by its name.</p>
        <p>
          <Link to="/erasures" search={{ account }}>
            Erasures of this account
          </Link>
        </p>
      </div>
    );
  }
  return (
    <>
      <dl className="facts">
        <Fact name="Created">
          <When entries={entries} of="accepted" />
        </Fact>
        <Fact name="Replayed">
          <When entries={entries} of="replayed" />
        </Fact>
        <Fact name="In conflict">
          <When entries={entries} of="idempotency-conflict" />
        </Fact>
        <Fact name="The event">
          <EventLink timeline={timeline} />
        </Fact>
      </dl>
      <div className="section-head">
        <h2 id="entries">Entries of the audit log</h2>
        <button type="button" className="button quiet-button" onClick={again}>
          Look again
        </button>
      </div>
      <Entries entries={entries} />
      <Notes account={account} timeline={timeline} />
    </>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** How often something happened, and when last. A count of several events is a maximum. */
function When({ entries, of }: { readonly entries: readonly Entry[]; readonly of: string }) {
  const found = entries.filter(({ outcome }) => outcome === of);
  const last = found.at(-1);
  if (!last) return <span className="quiet">never</span>;
  const times = found.reduce((sum, { occurrences }) => sum + occurrences, 0);
  const isExact = found.every(({ events }) => events === 1);
  return (
    <>
      <strong className="numbers">
        {isExact ? "" : "at most "}
        {times === 1 ? "once" : `${times.toLocaleString("en")} times`}
      </strong>
      , {times === 1 ? "" : "the last "}at <Time at={last.at} />
    </>
  );
}

const EventLink = ({ timeline: { event_id, state } }: { readonly timeline: Timeline }) =>
  state === "stored" ? (
    <Link to="/events/$eventId" params={{ eventId: event_id ?? "" }} className="mono">
      {event_id}
    </Link>
  ) : (
    <>
      <span className="mono">{event_id}</span>{" "}
      <span className="quiet">expired and was deleted. Until its replay window ends, the key is not free.</span>
    </>
  );

const Entries = ({ entries }: { readonly entries: readonly Entry[] }) => (
  <div className="table-scroll" tabIndex={0} role="region" aria-labelledby="entries">
    <table className="table key-table">
      <thead>
        <tr>
          <th scope="col">Written, UTC</th>
          <th scope="col">What happened</th>
          <th scope="col">Requests</th>
        </tr>
      </thead>
      <tbody>
        {entries.map(({ at, outcome, occurrences, events }) => {
          const [name, meaning] = wordsOfOutcome(outcome);
          return (
            <tr key={`${at} ${outcome}`}>
              <td>
                <Time at={at} isShort />
              </td>
              <th scope="row">
                <strong>{name}</strong> <span className="quiet">{meaning}</span>
              </th>
              <td className="numbers">
                {occurrences.toLocaleString("en")}
                {events > 1 && <span className="quiet"> of {events.toLocaleString("en")} events</span>}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  </div>
);

/** How exact the numbers are. */
const Notes = ({ account, timeline: { entries, more, unnamed } }: Omit<KeyTimelineProps, "again">) => (
  <div className="list-foot quiet">
    {more && <p>There are more entries than these {entries.length.toLocaleString("en")}.</p>}
    {entries.some(({ events }) => events > 1) && (
      <p>
        The log counts the retries of an account together each second: a number “of 3 events” is the sum of all three.
      </p>
    )}
    {unnamed.entries > 0 && (
      <p>
        {unnamed.occurrences.toLocaleString("en")} further retries of the account are in entries with too many events to
        name them all. Some may be of this key.
      </p>
    )}
    <p>
      A request that was refused for another reason leaves its key unused, and is not in this list.{" "}
      <Link to="/rejections/latest" search={{ account }}>
        The latest of this account
      </Link>
    </p>
  </div>
);
