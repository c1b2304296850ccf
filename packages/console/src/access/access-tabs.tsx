import { TabbedHead } from "../ui/tabbed-head.tsx";

const TABS = [
  ["/access", "People"],
  ["/access/sessions", "Sessions"],
  ["/access/tokens", "Admin tokens"],
  ["/access/cases", "Cases"],
] as const;

/** The head of the screens about who has access. */
export const AccessTabs = (props: { readonly what: string }) => <TabbedHead title="Access" tabs={TABS} {...props} />;
