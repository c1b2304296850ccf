import type { Input } from "@device-risk-signals/admin-api";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Fragment } from "react";
import { call } from "../app/api.ts";
import { useScope } from "../app/session.tsx";
import { FilterBar } from "../ui/filter-bar.tsx";
import { Foreign, visible } from "../ui/foreign.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { Time } from "../ui/time.tsx";
import { AuditTabs } from "./audit-tabs.tsx";
import { EntryDetails } from "./entry-details.tsx";
import { Erasures } from "./erasures.tsx";
import { type EntriesSearch, type Entry, FILTERS } from "./entries-search.ts";
import { KNOWN_OPERATIONS, personOf, wayOf, wordsOfEntry, wordsOfOperation } from "./operation-words.ts";
import { ProofButton } from "./proof-button.tsx";

const PAGE = 50;
const OPERATIONS = new Map(KNOWN_OPERATIONS.map((operation) => [operation, wordsOfOperation(operation) ?? operation]));

export function EntriesPage() {
  const scope = useScope("audit.read");
  const search = useSearch({ from: "/shell/audit/entries" });
  return (
    <>
      <AuditTabs what="Who did what, when, why and under which case." />
      {scope === "own" && <p className="note">You see your own entries. The role auditor sees all.</p>}
      <Filters search={search} />
      {search.person !== undefined && <OfServer />}
      <Entries search={search} />
    </>
  );
}

/** An erasure outlasts the call of the person who ordered it, and the server finishes it. */
const OfServer = () => (
  <p className="note">
    The server finishes what a person orders, such as an erasure, and writes the last entry itself. Filter by the
    account, or see{" "}
    <Link to="/audit/entries" search={{ operation: "erase.run" }}>
      all entries of erasures
    </Link>
    .
  </p>
);

function Filters({ search }: { readonly search: EntriesSearch }) {
  const navigate = useNavigate({ from: "/audit/entries" });
  const { entry: _, ...before } = search;
  const change = (changes: EntriesSearch): void => {
    void navigate({ search: { ...before, ...changes }, replace: true });
  };
  return (
    <FilterBar
      labels={FILTERS}
      search={before}
      timesOf="Written"
      change={(changes) => change(changes as EntriesSearch)}
      suggestions={{ of: "operation", placeholder: "such as event.read_raw", values: OPERATIONS }}
      clear={
        <Link to="/audit/entries" className="quiet">
          Clear
        </Link>
      }
    />
  );
}

function Entries({ search }: { readonly search: EntriesSearch }) {
  const { entry: _, ...filter } = search;
  return (
    <PagedList<Entry>
      queryKey={["listAudit", filter]}
      noun={["entry", "entries"]}
      more="Older entries"
      empty={<NoEntries isFiltered={Object.keys(filter).length > 0} />}
      read={async (after) => {
        const input = { ...filter, limit: PAGE, ...(after !== undefined && { after }) } as Input<"listAudit">;
        const { entries, next, erasures } = await call("listAudit", input);
        return { rows: entries, next, before: erasures.length > 0 && <Erasures erasures={erasures} /> };
      }}
    >
      {(entries) => <EntryTable entries={entries} search={search} />}
    </PagedList>
  );
}

const NoEntries = ({ isFiltered }: { readonly isFiltered: boolean }) => (
  <div className="empty">
    <h2>{isFiltered ? "No entry has these filters" : "No entries yet"}</h2>
    <p className="quiet">
      Each read of an event, each change and each refusal writes an entry before its answer. Entries that are older than
      the log's retention may be deleted; an entry says when.
    </p>
  </div>
);

function EntryTable({ entries, search }: { readonly entries: readonly Entry[]; readonly search: EntriesSearch }) {
  const canProve = useScope("audit.verify") !== undefined;
  return (
    <div className="table-scroll" tabIndex={0} role="region" aria-label="Entries, newest first">
      <table className="table table-wide entries-table">
        <thead>
          <tr>
            <th scope="col">Written, UTC</th>
            <th scope="col">Who</th>
            <th scope="col">What</th>
            <th scope="col">Event</th>
            <th scope="col">Why</th>
            <th scope="col">Case</th>
            {canProve && <th scope="col">Proof</th>}
          </tr>
        </thead>
        <tbody>
          {entries.map((entry, index) => {
            // An entry about several events has a row for each of them.
            const key = `${entry.entry_id} ${entry.event_id ?? index}`;
            const isOpen = search.entry === entry.entry_id && entries[index - 1]?.entry_id !== entry.entry_id;
            return (
              <Fragment key={key}>
                <EntryRow entry={entry} search={search} isOpen={isOpen} canProve={canProve} />
                {isOpen && (
                  <tr className="entry-details">
                    <td colSpan={canProve ? 7 : 6}>
                      <EntryDetails entry={entry} />
                    </td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  readonly entry: Entry;
  readonly search: EntriesSearch;
  readonly isOpen: boolean;
  readonly canProve: boolean;
}

function EntryRow({ entry, search, isOpen, canProve }: RowProps) {
  const { entry_id, at, actor, via, operation, outcome, event_id, reason, ticket, case_id, occurrences } = entry;
  const { entry: _, ...filter } = search;
  const person = personOf(actor);
  return (
    <tr>
      <td>
        <Link
          to="/audit/entries"
          search={isOpen ? filter : { ...filter, entry: entry_id }}
          replace
          resetScroll={false}
          aria-expanded={isOpen}
        >
          <Time at={at} isShort />
        </Link>
      </td>
      <td>
        <Link
          to="/audit/entries"
          search={{ ...filter, person }}
          className="cell-filter"
          title={visible(`Only person ${person}`)}
        >
          <Foreign text={person} />
        </Link>
        {via !== "server" && <span className="quiet small"> {wayOf(via)}</span>}
      </td>
      <td>
        <Link to="/audit/entries" search={{ ...filter, operation }} className="cell-filter" title={visible(operation)}>
          {wordsOfEntry(entry) ?? <Foreign text={operation} isCode />}
        </Link>
        {occurrences > 1 && <span className="quiet numbers"> × {occurrences.toLocaleString("en")}</span>}
        {outcome !== "done" && (
          <span className="tag">
            <Foreign text={outcome} />
          </span>
        )}
        <Checked verified={entry.verified} />
      </td>
      <td>{event_id !== null && <EventLink id={event_id} filter={filter} />}</td>
      <td className="entry-why">
        {entry.unreadable ? <span className="quiet">destroyed after an erasure</span> : <Foreign text={reason ?? ""} />}
      </td>
      <td>
        {ticket !== null ? (
          <Foreign text={ticket} />
        ) : (
          case_id !== null && <span className="mono">{case_id.slice(0, 8)}</span>
        )}
      </td>
      {canProve && (
        <td>
          <ProofButton entryId={entry_id} />
        </td>
      )}
    </tr>
  );
}

/** A part of the id is enough to tell events apart; a click shows all that was done with the event. */
const EventLink = ({ id, filter }: { readonly id: string; readonly filter: EntriesSearch }) => (
  <Link
    to="/audit/entries"
    search={{ ...filter, event_id: id }}
    className="cell-filter mono event-tail"
    title={visible(id)}
  >
    …<Foreign text={id.slice(-12)} />
  </Link>
);

/** Whether a worker has checked that a process of the server wrote the entry. */
function Checked({ verified }: Pick<Entry, "verified">) {
  if (verified === true) return null;
  return verified === null ? (
    <span className="tag" title="A worker checks within seconds that the server wrote it.">
      not yet checked
    </span>
  ) : (
    <span className="tag tag-broken" title="A login of the database inserted it: it is no person's act.">
      not written by the server
    </span>
  );
}
