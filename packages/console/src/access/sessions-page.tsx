import type { Answer } from "@device-risk-signals/admin-api";
import { call } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { relative, Time } from "../ui/time.tsx";
import { AccessTabs } from "./access-tabs.tsx";
import { EndButton } from "./end-button.tsx";

type Session = Answer<"listSessions">["sessions"][number];

const KINDS = { console: "browser", login: "drs login" } as const;

export function SessionsPage() {
  const scope = useScope("admin-tokens.read");
  return (
    <>
      <AccessTabs what="Who is signed in now." />
      {scope === undefined ? (
        <Forbidden permission="admin-tokens.read" what="The list of sessions" />
      ) : (
        <PagedList<Session>
          queryKey={["access", "sessions"]}
          noun={["active session", "active sessions"]}
          more="Older sessions"
          empty={<p className="quiet">Nobody is signed in.</p>}
          read={async (after) => {
            const { sessions, next } = await call("listSessions", { ...(after !== undefined && { after }) });
            return { rows: sessions, next };
          }}
        >
          {(sessions) => <SessionTable sessions={sessions} />}
        </PagedList>
      )}
    </>
  );
}

const SessionTable = ({ sessions }: { readonly sessions: readonly Session[] }) => (
  <div className="table-scroll" tabIndex={0} role="region" aria-label="Sessions, newest first">
    <table className="table table-wide">
      <thead>
        <tr>
          <th scope="col">Person</th>
          <th scope="col">By</th>
          <th scope="col">Roles</th>
          <th scope="col">Signed in, UTC</th>
          <th scope="col">Last request</th>
          <th scope="col">Ends at the latest</th>
          <th scope="col">
            <span className="visually-hidden">End</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {sessions.map(({ session_id, kind, person, name, roles, started_at, last_used_at, expires_at }) => (
          <tr key={session_id}>
            <td>
              <Foreign text={person} />
              {name !== null && (
                <span className="quiet" title="By the identity provider; it can be another's name">
                  {" "}
                  <Foreign text={name} />
                </span>
              )}
            </td>
            <td>{KINDS[kind]}</td>
            <td>{roles.join(", ")}</td>
            <td>
              <Time at={started_at} isShort />
            </td>
            <td title={`${last_used_at}, to the minute`}>{relative(last_used_at)}</td>
            <td title={expires_at}>{relative(expires_at)}</td>
            <td>
              <EndButton
                permission="admin-tokens.revoke"
                label="End"
                name={`End the session of ${person} that began ${started_at}`}
                title="End this session?"
                end={() => call("revokeSession", { session_id })}
              >
                <p>
                  <Foreign text={person} /> is signed out of this {KINDS[kind] === "browser" ? "browser" : "computer"}{" "}
                  within five seconds, and can sign in again.
                </p>
              </EndButton>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
