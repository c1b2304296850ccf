import { AdminRequestError } from "@device-risk-signals/admin-api/client";
import { useQuery } from "@tanstack/react-query";
import { keyOf, queryClient } from "../app/api.ts";
import { apiPath, ownPath } from "../app/base.ts";
import { useSession } from "../app/session.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { readWays } from "./ways.ts";

export const isStepUp = (error: unknown): boolean =>
  error instanceof AdminRequestError && error.code === "step-up-required";

/** For a shell: a name may have spaces and quotes. */
const quoted = (text: string): string => (/^[\w.@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** Says how to sign in again, in another tab, so that the page keeps what was typed. */
export function StepUp({ again }: { readonly again: () => void }) {
  const { person, roles } = useSession();
  const { data: ways } = useQuery({ queryKey: ["sign-in-ways"], queryFn: readWays });
  const query = new URLSearchParams({ max_age: "300", return: ownPath() + location.search }).toString();
  const command = `npx drs console link --person ${quoted(person)} --role ${roles.join(" ")}`;
  const retry = async (): Promise<void> => {
    await queryClient.invalidateQueries({ queryKey: keyOf("readSession", {}) });
    again();
  };
  return (
    <div className="next-step" role="alert">
      <p>
        <strong>One step before this: sign in again.</strong> It needs a sign-in of the last five minutes, so that
        nobody decides on a screen that was left open. What you typed stays here.
      </p>
      {ways?.includes("identity-provider") === true && (
        <p>
          <a href={apiPath(`/sign-in?${query}`)} target="_blank" rel="noreferrer">
            Sign in in another tab
          </a>
          , then come back.
        </p>
      )}
      {ways?.includes("link") === true && (
        <>
          <p>Run this on the computer of the server, and open the link that it prints in this browser:</p>
          <p className="command">
            <code>{command}</code> <CopyButton text={command} label="Copy" />
          </p>
        </>
      )}
      <button type="button" className="button" onClick={() => void retry()}>
        I have signed in again
      </button>
    </div>
  );
}
