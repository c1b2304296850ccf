import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { PageHead } from "../ui/page-head.tsx";

const TABS = [
  ["/rejections", "By rule"],
  ["/rejections/latest", "Latest"],
] as const;

/** The head of the screens about rejected requests. */
export const RejectionTabs = ({ what, children }: { readonly what: string; readonly children?: ReactNode }) => (
  <>
    <PageHead title="Rejected requests" what={what}>
      {children}
    </PageHead>
    <nav className="tabs" aria-label="Rejected requests">
      {TABS.map(([to, name]) => (
        <Link key={to} to={to} activeOptions={{ exact: true, includeSearch: false }}>
          {name}
        </Link>
      ))}
    </nav>
  </>
);
