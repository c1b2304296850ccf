import type { Answer } from "@device-risk-signals/admin-api";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { call } from "../app/api.ts";
import { Forbidden, useScope, useSession } from "../app/session.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { relative, Time } from "../ui/time.tsx";
import { AccessTabs } from "./access-tabs.tsx";
import { EndButton } from "./end-button.tsx";

type Case = Answer<"listCases">["cases"][number];

const CHOICES = [
  ["Open", true],
  ["Ended", false],
  ["All", undefined],
] as const;

export function CasesPage() {
  const scope = useScope("cases.read");
  const navigate = useNavigate({ from: "/access/cases" });
  const { open } = useSearch({ from: "/shell/access/cases" });
  return (
    <>
      <AccessTabs what="Under which reasons people open events. A case lasts 8 hours." />
      {scope === undefined ? (
        <Forbidden permission="cases.read" what="The list of cases" />
      ) : (
        <>
          {scope === "own" && <p className="note">You see the cases that you opened.</p>}
          <div className="segments case-states" role="group" aria-label="State">
            {CHOICES.map(([name, value]) => (
              <button
                key={name}
                type="button"
                aria-pressed={open === value}
                onClick={() => void navigate({ search: value === undefined ? {} : { open: value }, replace: true })}
              >
                {name}
              </button>
            ))}
          </div>
          <PagedList<Case>
            queryKey={["access", "cases", open]}
            noun={["case", "cases"]}
            more="Older cases"
            empty={
              <p className="quiet">
                {open === true ? "No case is open." : "No such case."} A person who opens the observations of an event
                gives a reason first, and this opens a case.
              </p>
            }
            read={async (after) => {
              const input = { ...(open !== undefined && { open }), ...(after !== undefined && { after }) };
              const { cases, next } = await call("listCases", input);
              return { rows: cases, next };
            }}
          >
            {(cases) => <CaseTable cases={cases} />}
          </PagedList>
        </>
      )}
    </>
  );
}

const COVERS = { account: "account", action: "action", event: "event" } as const;

const isOpen = ({ closed_at, expires_at }: Case): boolean => closed_at === null && Date.parse(expires_at) > Date.now();

function CaseTable({ cases }: { readonly cases: readonly Case[] }) {
  const { person } = useSession();
  return (
    <div className="table-scroll" tabIndex={0} role="region" aria-label="Cases, newest first">
      <table className="table table-wide cases-table">
        <thead>
          <tr>
            <th scope="col">Opened, UTC</th>
            <th scope="col">By</th>
            <th scope="col">Kind, ticket</th>
            <th scope="col">Reason</th>
            <th scope="col">Covers</th>
            <th scope="col" className="number">
              Events opened
            </th>
            <th scope="col">State</th>
            <th scope="col">
              <span className="visually-hidden">Close</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {cases.map((one) => (
            <tr key={one.case_id}>
              <td>
                <Time at={one.opened_at} isShort />
              </td>
              <td>
                <Link
                  to="/audit/entries"
                  search={{ person: one.opened_by, from: one.opened_at, to: one.closed_at ?? one.expires_at }}
                  title="What the audit log has of this person while the case was open"
                >
                  <Foreign text={one.opened_by} />
                </Link>
              </td>
              <td>
                {one.category} {one.ticket !== null && <Foreign text={one.ticket} />}
              </td>
              <td className="entry-why">
                <Foreign text={one.reason} />
              </td>
              <td>
                <span className="quiet">{COVERS[one.scope]}</span> <Foreign text={one.subject} />
              </td>
              <td className="number">{one.events_opened.toLocaleString("en")}</td>
              <td>
                {one.closed_at !== null && `closed ${relative(one.closed_at)}`}
                {one.closed_at === null && `${isOpen(one) ? "ends" : "ended"} ${relative(one.expires_at)}`}
              </td>
              <td>
                {isOpen(one) && one.opened_by === person && (
                  <EndButton
                    permission="cases.use"
                    label="Close"
                    name={`Close the case of ${one.opened_at}`}
                    title="Close this case?"
                    end={() => call("closeCase", { case_id: one.case_id })}
                  >
                    <p>No event can be opened under it any more. To go on, you open a new case with a reason.</p>
                  </EndButton>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
