import { Link } from "@tanstack/react-router";
import { CopyButton } from "../ui/copy-button.tsx";

const TABS = [
  ["/access", "People"],
  ["/access/sessions", "Sessions"],
  ["/access/tokens", "Admin tokens"],
  ["/access/cases", "Cases"],
] as const;

/** The head of the screens about who has access. */
export const AccessTabs = ({ what }: { readonly what: string }) => (
  <>
    <header className="page-head">
      <div>
        <h1>Access</h1>
        <p className="quiet">{what}</p>
      </div>
      <CopyButton text={location.href} label="Copy link" />
    </header>
    <nav className="tabs" aria-label="Access">
      {TABS.map(([to, name]) => (
        <Link key={to} to={to} activeOptions={{ exact: true, includeSearch: false }}>
          {name}
        </Link>
      ))}
    </nav>
  </>
);
