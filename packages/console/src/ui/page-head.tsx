import type { ReactNode } from "react";
import { visible } from "./foreign.tsx";

interface PageHeadProps {
  readonly title: string;
  /** One sentence: what the page shows. */
  readonly what: string;
  readonly children?: ReactNode;
}

/** The title of a page, what it shows, and its controls. */
export const PageHead = ({ title, what, children }: PageHeadProps) => (
  <header className="page-head">
    <div>
      <h1>{visible(title)}</h1>
      <p className="quiet">{visible(what)}</p>
    </div>
    {children && <div className="page-controls">{children}</div>}
  </header>
);
