import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { queryClient } from "../app/api.ts";
import { apiPath, ownPath } from "../app/base.ts";
import { readWays, type Ways } from "./ways.ts";

/** The code of a link, which the address loses at once, so that no history has it. */
function takeCode(): string | undefined {
  const code = location.hash.slice(1);
  // The fragment of another page names a place in it.
  if (ownPath() !== "/sign-in" || code === "") return undefined;
  history.replaceState(history.state, "", `${location.pathname}${location.search}`);
  return code;
}

/** @returns why the code was refused; `undefined` if it signed the person in. */
async function redeem(code: string): Promise<string | undefined> {
  const response = await fetch(apiPath("/link-sign-in"), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ code }),
  });
  return response.ok ? undefined : ((await response.json()) as { readonly detail: string }).detail;
}

const UNREACHABLE = "The server can't be reached.";

// React renders a page twice in development, and the code is taken once.
let code = takeCode();

/** A link that is opened in a tab of this page changes its fragment only. */
function useLinksOfThisTab(): void {
  useEffect(() => {
    const reload = (): void => location.reload();
    addEventListener("hashchange", reload);
    return () => removeEventListener("hashchange", reload);
  }, []);
}

export function SignInPage() {
  useLinksOfThisTab();
  const { return: given } = useSearch({ from: "/sign-in" });
  const [to] = useState(() => wantedPath(given));
  const navigate = useNavigate();
  const [ways, setWays] = useState<Ways>();
  const [problem, setProblem] = useState<string>();
  const [isSigningIn, setSigningIn] = useState(code !== undefined);
  useEffect(() => {
    code ??= takeCode();
    const once = code;
    code = undefined;
    readWays().then(
      (known) => {
        setWays(known);
        // The provider gets the path; a printed link names none. While one signs in, the path is no longer needed.
        if (once === undefined && waitsForLink(known)) sessionStorage.setItem(WANTED, to);
      },
      () => setProblem(UNREACHABLE),
    );
    if (once === undefined) return;
    const signIn = async (): Promise<void> => {
      const refused = await redeem(once).catch(() => UNREACHABLE);
      if (refused === undefined) {
        queryClient.clear();
        sessionStorage.removeItem(WANTED);
        return navigate({ href: to, replace: true });
      }
      setProblem(refused);
      setSigningIn(false);
    };
    void signIn();
  }, [navigate, to]);
  return (
    <main className="sign-in">
      <h1>Device Risk Signals</h1>
      {isSigningIn ? <p role="status">Signing in…</p> : <HowToSignIn ways={ways} to={to} />}
      {problem !== undefined && (
        <p className="failure" role="alert">
          {problem}
        </p>
      )}
      <p className="quiet small">
        Every operation of these pages is also a command; <code>drs --help</code> lists them.
      </p>
    </main>
  );
}

/** A path of this origin, so that a link to this page leads nowhere else. */
const isOwnPath = (path: string): boolean =>
  path.startsWith("/") && new URL(path, location.origin).origin === location.origin;

const WANTED = "wanted-path";

/** Where the sign-in leads: this tab remembers it until a printed link signs the person in. */
function wantedPath(given: string | undefined): string {
  const path = given ?? sessionStorage.getItem(WANTED) ?? "/";
  // guard: neither a link nor what the tab remembers leads to another origin
  return isOwnPath(path) ? path : "/";
}

const waitsForLink = (ways: Ways): boolean => !ways.includes("identity-provider") && ways.includes("link");

function HowToSignIn({ ways, to }: { readonly ways: Ways | undefined; readonly to: string }) {
  if (!ways) return null;
  if (ways.includes("identity-provider")) {
    const query = new URLSearchParams({ return: to }).toString();
    return (
      <a className="button primary" href={apiPath(`/sign-in?${query}`)}>
        Sign in
      </a>
    );
  }
  if (waitsForLink(ways)) {
    return (
      <p>
        Run <code>npx drs console link</code> on this computer, and open the link that it prints. It signs you in once,
        within ten minutes.{to !== "/" && " Open it in this tab: it leads to the page that you wanted."}
      </p>
    );
  }
  return (
    <p>
      Nobody can sign in here: this server has no identity provider. Its operator sets <code>DRS_OIDC_ISSUER</code>.
    </p>
  );
}
