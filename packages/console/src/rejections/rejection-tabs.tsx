import type { ReactNode } from "react";
import { TabbedHead } from "../ui/tabbed-head.tsx";

const TABS = [
  ["/rejections", "By rule"],
  ["/rejections/latest", "Latest"],
] as const;

/** The head of the screens about rejected requests. */
export const RejectionTabs = (props: { readonly what: string; readonly children?: ReactNode }) => (
  <TabbedHead title="Rejected requests" tabs={TABS} {...props} />
);
