import type { Answer } from "@device-risk-signals/admin-api";
import { Link } from "@tanstack/react-router";
import { call } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { Time } from "../ui/time.tsx";
import { AccessTabs } from "./access-tabs.tsx";
import { EndButton } from "./end-button.tsx";

type Person = Answer<"listPeople">["people"][number];

export function PeoplePage() {
  const scope = useScope("people.read");
  return (
    <>
      <AccessTabs what="Who signed in or has an admin token, and with which roles." />
      {scope === undefined ? (
        <Forbidden permission="people.read" what="The list of people" />
      ) : (
        <PagedList<Person>
          queryKey={["access", "people"]}
          noun={["person", "people"]}
          more="More people"
          empty={<p className="quiet">Nobody has signed in, and nobody has an admin token.</p>}
          read={async (after) => {
            const { people, next } = await call("listPeople", { ...(after !== undefined && { after }) });
            return { rows: people, next };
          }}
        >
          {(people) => <PeopleTable people={people} />}
        </PagedList>
      )}
    </>
  );
}

const PeopleTable = ({ people }: { readonly people: readonly Person[] }) => (
  <div className="table-scroll" tabIndex={0} role="region" aria-label="People, the latest first">
    <table className="table table-wide">
      <thead>
        <tr>
          <th scope="col">Person</th>
          <th scope="col">Roles</th>
          <th scope="col">Last sign-in, UTC</th>
          <th scope="col">Sessions</th>
          <th scope="col">Tokens</th>
        </tr>
      </thead>
      <tbody>
        {people.map((one) => (
          <tr key={one.person}>
            <td>
              <Link to="/audit/entries" search={{ person: one.person }} title="What the audit log has of this person">
                <Foreign text={one.person} />
              </Link>
              {one.name !== null && (
                <span className="quiet" title="By the identity provider; it can be another's name">
                  {" "}
                  <Foreign text={one.name} />
                </span>
              )}
            </td>
            <td>{one.roles.join(", ")}</td>
            <td>
              {one.signed_in_at === null ? (
                <span className="quiet">never</span>
              ) : (
                <Time at={one.signed_in_at} isShort />
              )}
            </td>
            <td>
              <Active count={one.sessions} />
              {one.sessions > 0 && (
                <EndButton
                  permission="admin-tokens.revoke"
                  label="End all"
                  name={`End all sessions of ${one.person}`}
                  title="End all sessions of this person?"
                  end={() => call("revokeSessionsOf", { person: one.person })}
                >
                  <p>
                    <Foreign text={one.person} /> is signed out everywhere within five seconds, and can sign in again.
                  </p>
                </EndButton>
              )}
            </td>
            <td>
              <Active count={one.tokens} />
              {one.tokens > 0 && (
                <EndButton
                  permission="admin-tokens.revoke"
                  label="Revoke all"
                  name={`Revoke all admin tokens of ${one.person}`}
                  title="Revoke all admin tokens of this person?"
                  end={() => call("revokeAdminTokensOf", { person: one.person })}
                >
                  <p>
                    The tokens of <Foreign text={one.person} />, and those that this person obtained for others, are
                    refused within five seconds. Programs that use them stop working.
                  </p>
                </EndButton>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const Active = ({ count }: { readonly count: number }) =>
  count === 0 ? <span className="quiet">none</span> : <span className="numbers active-count">{count}</span>;
