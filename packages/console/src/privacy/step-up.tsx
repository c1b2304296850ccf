import { BASE_PATH } from "@device-risk-signals/admin-api/route";
import { useQuery } from "@tanstack/react-query";
import { queryClient } from "../app/api.ts";
import { useSession } from "../app/session.tsx";
import { visible } from "../ui/foreign.tsx";

const readWays = async (): Promise<readonly string[]> =>
  ((await (await fetch(`${BASE_PATH}/sign-in-ways`)).json()) as { readonly ways: readonly string[] }).ways;

/** Asks for a recent sign-in. It happens in another tab, so that this page keeps what was typed. */
export function StepUp({ again }: { readonly again: () => void }) {
  const { person, roles } = useSession();
  const { data: ways = [] } = useQuery({ queryKey: ["sign-in-ways"], queryFn: readWays });
  const goOn = (): void => {
    void queryClient.invalidateQueries({ queryKey: ["readSession"] });
    again();
  };
  return (
    <div className="next-step" role="status">
      <h3>Next: sign in again</h3>
      <p>
        This needs a sign-in of the last five minutes, so that nobody can do it at a screen that you left open. Sign in
        in another tab; this page keeps what you typed.
      </p>
      {ways.includes("identity-provider") ? (
        <a className="button" href={`${BASE_PATH}/sign-in?max_age=300`} target="_blank" rel="noreferrer">
          Sign in in a new tab
        </a>
      ) : (
        <p>
          Open a new link in this browser:{" "}
          <code className="foreign">
            npx drs console link --person {visible(person)} --role {roles.join(" ")}
          </code>
        </p>
      )}
      <button type="button" className="button primary" onClick={goOn}>
        I have signed in: go on
      </button>
    </div>
  );
}
