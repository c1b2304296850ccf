import type { Answer } from "@device-risk-signals/admin-api";
import { call } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { relative, Time } from "../ui/time.tsx";
import { AccessTabs } from "./access-tabs.tsx";
import { EndButton } from "./end-button.tsx";

type Token = Answer<"listAdminTokens">["tokens"][number];

export function TokensPage() {
  const scope = useScope("admin-tokens.read");
  return (
    <>
      <AccessTabs what="Credentials of programs, and of people without a browser. The tokens themselves are not kept." />
      {scope === undefined ? (
        <Forbidden permission="admin-tokens.read" what="The list of admin tokens" />
      ) : (
        <PagedList<Token>
          queryKey={["access", "tokens"]}
          noun={["admin token", "admin tokens"]}
          more="Older tokens"
          empty={
            <p className="quiet">
              Nobody has an admin token. <code>drs admin-token issue</code> asks for one; a person with the role privacy
              approves it.
            </p>
          }
          read={async (after) => {
            const { tokens, next } = await call("listAdminTokens", { ...(after !== undefined && { after }) });
            return { rows: tokens, next };
          }}
        >
          {(tokens) => <TokenTable tokens={tokens} />}
        </PagedList>
      )}
    </>
  );
}

/** Whether a token can still be used, in words. */
function stateOf({ revoked_at, expires_at }: Token): { readonly isActive: boolean; readonly words: string } {
  if (revoked_at !== null) return { isActive: false, words: `revoked ${relative(revoked_at)}` };
  const isActive = Date.parse(expires_at) > Date.now();
  return { isActive, words: `${isActive ? "ends" : "ended"} ${relative(expires_at)}` };
}

const TokenTable = ({ tokens }: { readonly tokens: readonly Token[] }) => (
  <div className="table-scroll" tabIndex={0} role="region" aria-label="Admin tokens, newest first">
    <table className="table table-wide">
      <thead>
        <tr>
          <th scope="col">Person</th>
          <th scope="col">Roles</th>
          <th scope="col">Issued, UTC</th>
          <th scope="col">Last used</th>
          <th scope="col">State</th>
          <th scope="col">
            <span className="visually-hidden">Revoke</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {tokens.map((token) => {
          const { token_id, person, obtained_by, roles, issued_at, expires_at, last_used_at } = token;
          const { isActive, words } = stateOf(token);
          return (
            <tr key={token_id} className={isActive ? "" : "quiet"}>
              <td>
                <Foreign text={person} />
                {obtained_by !== null && (
                  <span className="quiet">
                    , obtained by <Foreign text={obtained_by} />
                  </span>
                )}
              </td>
              <td>{roles.join(", ")}</td>
              <td>
                <Time at={issued_at} isShort />
              </td>
              <td title={last_used_at ?? ""}>{last_used_at === null ? "never" : relative(last_used_at)}</td>
              <td title={expires_at}>{words}</td>
              <td>
                {isActive && (
                  <EndButton
                    permission="admin-tokens.revoke"
                    label="Revoke"
                    name={`Revoke the token of ${person} of ${issued_at}`}
                    title="Revoke this token?"
                    end={() => call("revokeAdminToken", { token_id })}
                  >
                    <p>
                      The token of <Foreign text={person} /> with {roles.length === 1 ? "the role" : "the roles"}{" "}
                      {roles.join(", ")} is refused within five seconds. Programs that use it stop working.
                    </p>
                  </EndButton>
                )}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  </div>
);
