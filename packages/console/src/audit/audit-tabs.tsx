import type { ReactNode } from "react";
import { TabbedHead } from "../ui/tabbed-head.tsx";

const TABS = [
  ["/audit", "Reads and state"],
  ["/audit/entries", "Entries"],
  ["/audit/reviews", "Reviews"],
] as const;

/** The head of the screens of the audit log. */
export const AuditTabs = (props: { readonly what: string; readonly children?: ReactNode }) => (
  <TabbedHead title="Audit" tabs={TABS} {...props} />
);
