import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { PageHead } from "../ui/page-head.tsx";

const TABS = [
  ["/audit", "Reads and state"],
  ["/audit/entries", "Entries"],
  ["/audit/reviews", "Reviews"],
] as const;

/** The head of the screens of the audit log. */
export const AuditTabs = ({ what, children }: { readonly what: string; readonly children?: ReactNode }) => (
  <>
    <PageHead title="Audit" what={what}>
      {children}
    </PageHead>
    <nav className="tabs" aria-label="Audit">
      {TABS.map(([to, name]) => (
        <Link key={to} to={to} activeOptions={{ exact: true, includeSearch: false }}>
          {name}
        </Link>
      ))}
    </nav>
  </>
);
