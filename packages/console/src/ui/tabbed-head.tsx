import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { PageHead } from "./page-head.tsx";

interface TabbedHeadProps {
  readonly title: string;
  readonly what: string;
  /** The path and the name of each tab. */
  readonly tabs: readonly (readonly [NonNullable<LinkProps["to"]>, string])[];
  readonly children?: ReactNode;
}

/** The head of screens that belong together, with a tab for each. */
export const TabbedHead = ({ title, what, tabs, children }: TabbedHeadProps) => (
  <>
    <PageHead title={title} what={what}>
      {children}
    </PageHead>
    <nav className="tabs" aria-label={title}>
      {tabs.map(([to, name]) => (
        <Link key={name} to={to} activeOptions={{ exact: true, includeSearch: false }}>
          {name}
        </Link>
      ))}
    </nav>
  </>
);
