import { Link } from "@tanstack/react-router";
import { PageHead } from "../ui/page-head.tsx";

const TABS = [
  ["/access", "People"],
  ["/access/sessions", "Sessions"],
  ["/access/tokens", "Admin tokens"],
  ["/access/cases", "Cases"],
] as const;

/** The head of the screens about who has access. */
export const AccessTabs = ({ what }: { readonly what: string }) => (
  <>
    <PageHead title="Access" what={what} />
    <nav className="tabs" aria-label="Access">
      {TABS.map(([to, name]) => (
        <Link key={to} to={to} activeOptions={{ exact: true, includeSearch: false }}>
          {name}
        </Link>
      ))}
    </nav>
  </>
);
