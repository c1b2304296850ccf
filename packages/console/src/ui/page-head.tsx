import type { ReactNode } from "react";
import { CopyButton } from "./copy-button.tsx";
import { visible } from "./foreign.tsx";

interface PageHeadProps {
  readonly title: string;
  /** One sentence: what the page shows. */
  readonly what: string;
  readonly children?: ReactNode;
}

/** The title of a page, what it shows, its controls, and the link of what is shown. */
export const PageHead = ({ title, what, children }: PageHeadProps) => (
  <header className="page-head">
    <div>
      <h1>{visible(title)}</h1>
      <p className="quiet">{visible(what)}</p>
    </div>
    <div className="page-controls">
      {children}
      <CopyButton text={location.href} label="Copy link" />
    </div>
  </header>
);
