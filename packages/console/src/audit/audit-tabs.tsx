import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { CopyButton } from "../ui/copy-button.tsx";

const TABS = [
  ["/audit", "Reads and state"],
  ["/audit/entries", "Entries"],
  ["/audit/reviews", "Reviews"],
] as const;

/** The head of the screens of the audit log. */
export const AuditTabs = ({ what, children }: { readonly what: string; readonly children?: ReactNode }) => (
  <>
    <header className="page-head">
      <div>
        <h1>Audit</h1>
        <p className="quiet">{what}</p>
      </div>
      <div className="page-actions">
        {children}
        <CopyButton text={location.href} label="Copy link" />
      </div>
    </header>
    <nav className="tabs" aria-label="Audit">
      {TABS.map(([to, name]) => (
        <Link key={to} to={to} activeOptions={{ exact: true, includeSearch: false }}>
          {name}
        </Link>
      ))}
    </nav>
  </>
);
