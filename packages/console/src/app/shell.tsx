import { ROLES, rolesWith, scopeOf } from "@device-risk-signals/admin-api/permissions";
import { Link, Outlet, useNavigate, useRouter } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { call, isSignedOut, queryClient, useRead } from "./api.ts";
import { BASE_URL } from "./base.ts";
import { KeysDialog } from "./keys-dialog.tsx";
import { SessionProvider, useSession } from "./session.tsx";
import { useKeys } from "./use-keys.ts";
import { keyInText } from "../keys/key-search.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { Failure } from "../ui/failure.tsx";
import { Skeleton } from "../ui/skeleton.tsx";

/** What surrounds every page of a person who is signed in. */
export function Shell() {
  const { data, error, refetch } = useRead("readSession", {});
  if (isSignedOut(error)) return <ToSignIn />;
  if (error) return <Failure error={error} what="The session could not be read" again={() => void refetch()} />;
  if (!data) return <Skeleton lines={3} />;
  return (
    <SessionProvider session={data}>
      <div className="shell">
        <a className="skip" href="#content">
          Skip to the content
        </a>
        <Rail />
        <div className="shell-main">
          <SearchLine />
          {data.is_demo && (
            <aside className="demo-bar" aria-label="Sample data">
              These are the sample data of drs demo.
            </aside>
          )}
          <main id="content" className="page" tabIndex={-1}>
            <Outlet />
          </main>
        </div>
      </div>
    </SessionProvider>
  );
}

/** Leads to the sign-in, which leads back to the page where it began. */
function ToSignIn() {
  const navigate = useNavigate();
  const router = useRouter();
  useEffect(() => {
    void navigate({ to: "/sign-in", search: { return: router.state.location.href }, replace: true });
  }, [navigate, router]);
  return null;
}

/** The screens, in groups of people who use them together, with the permission of their main part. */
const SCREENS = [
  {
    group: "Events",
    links: [
      { to: "/", name: "Overview", needs: undefined },
      { to: "/live", name: "Live", needs: "events.list" },
      { to: "/events", name: "Events", needs: "events.list" },
    ],
  },
  {
    group: "Phones",
    links: [
      { to: "/rejections", name: "Rejected requests", needs: "counters.read" },
      { to: "/probes", name: "Probe health", needs: "counters.read" },
      { to: "/drift", name: "New fields", needs: "counters.read" },
      { to: "/features", name: "Features", needs: "features.governance" },
    ],
  },
  {
    group: "Privacy",
    links: [
      { to: "/requests", name: "Requests", needs: "governance.read" },
      { to: "/erasures", name: "Erasures", needs: "governance.read" },
      { to: "/holds", name: "Holds", needs: "governance.read" },
      { to: "/restrictions", name: "Restrictions", needs: "governance.read" },
      { to: "/purposes", name: "Purposes", needs: "governance.read" },
    ],
  },
  {
    group: "Control",
    links: [
      { to: "/approvals", name: "Approvals", needs: "approvals.read" },
      { to: "/audit", name: "Audit", needs: undefined },
      { to: "/access", name: "Access", needs: "people.read" },
      { to: "/health", name: "Health", needs: "health.read" },
    ],
  },
] as const;

function Rail() {
  const { person, roles, installation, version } = useSession();
  return (
    <nav className="rail" aria-label="Screens">
      <Link to="/" className="brand">
        <span className="brand-mark" aria-hidden="true" />
        Device Risk Signals
      </Link>
      <button type="button" className="button menu-button" popoverTarget="screens">
        Menu
      </button>
      {/* A wide window shows it always, a narrow one at a press. */}
      <div
        className="rail-links"
        id="screens"
        popover="auto"
        onClick={({ currentTarget }) => currentTarget.matches(":popover-open") && currentTarget.hidePopover()}
      >
        {SCREENS.map(({ group, links }) => (
          <ul key={group} aria-label={group}>
            {links.map(({ to, name, needs }) => {
              const isClosed = needs !== undefined && scopeOf(needs, roles) === undefined;
              return (
                <li key={to}>
                  <Link
                    to={to}
                    activeOptions={{ includeSearch: false, exact: to === "/" }}
                    className={isClosed ? "not-permitted" : undefined}
                    title={isClosed ? `Needs the role ${rolesWith(needs).join(" or ")}` : undefined}
                  >
                    {name}
                  </Link>
                </li>
              );
            })}
          </ul>
        ))}
      </div>
      <div className="rail-person">
        <p className="person">{person}</p>
        <ul className="roles" aria-label="Your roles">
          {roles.map((role) => (
            <li key={role} title={ROLES[role]}>
              {role}
            </li>
          ))}
        </ul>
        <SignOut />
        <p className="quiet small" title={`Installation ${installation}`}>
          Version {version}
          <br />
          <span className="mono">{installation.slice(0, 8)}</span>
        </p>
      </div>
    </nav>
  );
}

function SignOut() {
  const [error, setError] = useState<unknown>();
  const signOut = async (): Promise<void> => {
    try {
      await call("signOut", {});
    } catch (thrown) {
      if (!isSignedOut(thrown)) return setError(thrown);
    }
    // A page that the browser loads again has nothing of what this one showed.
    queryClient.clear();
    location.replace(`${BASE_URL}/sign-in`);
  };
  return (
    <>
      <button type="button" className="button quiet-button" onClick={() => void signOut()}>
        Sign out
      </button>
      {error !== undefined && <Failure error={error} what="The sign-out failed" />}
    </>
  );
}

const EVENT_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** An event id opens the event, an idempotency key its timeline; everything else is searched as an account. */
function SearchLine() {
  const navigate = useNavigate();
  const input = useRef<HTMLInputElement>(null);
  const [isHelpOpen, setHelpOpen] = useState(false);
  useKeys({ "/": () => input.current?.focus(), "?": () => setHelpOpen(true) });
  const search = (submitted: FormEvent<HTMLFormElement>): void => {
    submitted.preventDefault();
    const text = input.current?.value.trim() ?? "";
    if (text === "") return;
    if (input.current) input.current.value = "";
    input.current?.blur();
    const key = keyInText(text);
    if (key) void navigate({ to: "/events/key", search: key });
    else if (EVENT_ID.test(text)) void navigate({ to: "/events/$eventId", params: { eventId: text.toLowerCase() } });
    else void navigate({ to: "/events", search: { account: text } });
  };
  return (
    <header className="search-line">
      <form role="search" onSubmit={search}>
        <label htmlFor="search" className="visually-hidden">
          Account, event id or idempotency key
        </label>
        <input
          id="search"
          ref={input}
          className="input"
          placeholder="Account, event id or idempotency key"
          autoComplete="off"
          spellCheck={false}
          maxLength={300}
        />
        <kbd aria-hidden="true">/</kbd>
      </form>
      <div className="page-controls">
        <CopyButton text={() => location.href} label="Copy link" isQuiet />
        <button type="button" className="button quiet-button" onClick={() => setHelpOpen(true)}>
          Keyboard
        </button>
      </div>
      {isHelpOpen && <KeysDialog close={() => setHelpOpen(false)} />}
    </header>
  );
}
