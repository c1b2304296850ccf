import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { auditSearchOf } from "../audit/audit-search.ts";
import { entriesSearchOf } from "../audit/entries-search.ts";
import { SearchPage } from "../events/search-page.tsx";
import { searchOf } from "../events/search.ts";
import { SignInPage } from "../sign-in/sign-in-page.tsx";
import { comparisonSearchOf, exportSearchOf, featureSearchOf } from "../features/feature-search.ts";
import { keySearchOf } from "../keys/key-search.ts";
import { liveSearchOf } from "../live/live-search.ts";
import { latestSearchOf } from "../rejections/latest-search.ts";
import { OverviewPage } from "../overview/overview-page.tsx";
import { probesSearchOf } from "../probes/probes-search.ts";
import { daysOf } from "../ui/days.tsx";
import { textsOf } from "../ui/search-texts.ts";
import { ROUTER_BASE } from "./base.ts";
import { NotFound } from "./not-found.tsx";
import { Shell } from "./shell.tsx";

const root = createRootRoute({ notFoundComponent: NotFound });

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  component: SignInPage,
  validateSearch: ({ return: to }: Readonly<Record<string, unknown>>): { return?: string } =>
    typeof to === "string" ? { return: to } : {},
});

const shell = createRoute({ getParentRoute: () => root, id: "shell", component: Shell });

const home = createRoute({ getParentRoute: () => shell, path: "/", component: OverviewPage });

const searchRoute = createRoute({
  getParentRoute: () => shell,
  path: "/events",
  component: SearchPage,
  validateSearch: searchOf,
});

const eventRoute = createRoute({
  getParentRoute: () => shell,
  path: "/events/$eventId",
  component: lazyRouteComponent(() => import("../events/event-page.tsx"), "EventPage"),
});

const keyRoute = createRoute({
  getParentRoute: () => shell,
  path: "/events/key",
  component: lazyRouteComponent(() => import("../keys/key-page.tsx"), "KeyPage"),
  validateSearch: keySearchOf,
});

const compareRoute = createRoute({
  getParentRoute: () => shell,
  path: "/events/$eventId/compare/$otherId",
  component: lazyRouteComponent(() => import("../events/compare-page.tsx"), "ComparePage"),
});

const live = createRoute({
  getParentRoute: () => shell,
  path: "/live",
  component: lazyRouteComponent(() => import("../live/live-page.tsx"), "LivePage"),
  validateSearch: liveSearchOf,
});

const rejections = createRoute({
  getParentRoute: () => shell,
  path: "/rejections",
  component: lazyRouteComponent(() => import("../rejections/rejections-page.tsx"), "RejectionsPage"),
  validateSearch: daysOf,
});

const latestRejections = createRoute({
  getParentRoute: () => shell,
  path: "/rejections/latest",
  component: lazyRouteComponent(() => import("../rejections/latest-page.tsx"), "LatestPage"),
  validateSearch: latestSearchOf,
});

const probes = createRoute({
  getParentRoute: () => shell,
  path: "/probes",
  component: lazyRouteComponent(() => import("../probes/probes-page.tsx"), "ProbesPage"),
  validateSearch: probesSearchOf,
});

const drift = createRoute({
  getParentRoute: () => shell,
  path: "/drift",
  component: lazyRouteComponent(() => import("../drift/drift-page.tsx"), "DriftPage"),
  validateSearch: ({ all }: Readonly<Record<string, unknown>>): { all?: boolean } => (all === true ? { all } : {}),
});

const field = createRoute({
  getParentRoute: () => shell,
  path: "/drift/$path",
  component: lazyRouteComponent(() => import("../drift/field-page.tsx"), "FieldPage"),
});

const features = createRoute({
  getParentRoute: () => shell,
  path: "/features",
  component: lazyRouteComponent(() => import("../features/features-page.tsx"), "FeaturesPage"),
});

const feature = createRoute({
  getParentRoute: () => shell,
  path: "/features/$feature",
  component: lazyRouteComponent(() => import("../features/feature-page.tsx"), "FeaturePage"),
  validateSearch: featureSearchOf,
});

const compareVersions = createRoute({
  getParentRoute: () => shell,
  path: "/features/$feature/compare/$other",
  component: lazyRouteComponent(() => import("../features/compare-versions-page.tsx"), "CompareVersionsPage"),
  validateSearch: comparisonSearchOf,
});

const featureExport = createRoute({
  getParentRoute: () => shell,
  path: "/features/export",
  component: lazyRouteComponent(() => import("../features/export-page.tsx"), "ExportPage"),
  validateSearch: exportSearchOf,
});

const lineage = createRoute({
  getParentRoute: () => shell,
  path: "/events/$eventId/features/$feature",
  component: lazyRouteComponent(() => import("../features/lineage-page.tsx"), "LineagePage"),
});

const FEATURES = [field, features, feature, compareVersions, featureExport, lineage] as const;

const health = createRoute({
  getParentRoute: () => shell,
  path: "/health",
  component: lazyRouteComponent(() => import("../health/health-page.tsx"), "HealthPage"),
});

const requests = createRoute({
  getParentRoute: () => shell,
  path: "/requests",
  component: lazyRouteComponent(() => import("../privacy/requests-page.tsx"), "RequestsPage"),
  validateSearch: (values): { account?: string } => textsOf(values, ["account"]),
});

const request = createRoute({
  getParentRoute: () => shell,
  path: "/requests/$requestId",
  component: lazyRouteComponent(() => import("../privacy/request-page.tsx"), "RequestPage"),
});

const erasures = createRoute({
  getParentRoute: () => shell,
  path: "/erasures",
  component: lazyRouteComponent(() => import("../privacy/erasures-page.tsx"), "ErasuresPage"),
  validateSearch: (values): { account?: string; reason?: string } => textsOf(values, ["account", "reason"]),
});

const receipts = createRoute({
  getParentRoute: () => shell,
  path: "/receipts",
  component: lazyRouteComponent(() => import("../privacy/receipts-page.tsx"), "ReceiptsPage"),
  validateSearch: (values): { id?: string } => textsOf(values, ["id"]),
});

const holds = createRoute({
  getParentRoute: () => shell,
  path: "/holds",
  component: lazyRouteComponent(() => import("../privacy/holds-page.tsx"), "HoldsPage"),
});

const restrictions = createRoute({
  getParentRoute: () => shell,
  path: "/restrictions",
  component: lazyRouteComponent(() => import("../privacy/restrictions-page.tsx"), "RestrictionsPage"),
});

const purposes = createRoute({
  getParentRoute: () => shell,
  path: "/purposes",
  component: lazyRouteComponent(() => import("../privacy/purposes-page.tsx"), "PurposesPage"),
});

const PRIVACY = [requests, request, erasures, receipts, holds, restrictions, purposes] as const;

const approvals = createRoute({
  getParentRoute: () => shell,
  path: "/approvals",
  component: lazyRouteComponent(() => import("../access/approvals-page.tsx"), "ApprovalsPage"),
});

const approval = createRoute({
  getParentRoute: () => shell,
  path: "/approvals/$approvalId",
  component: lazyRouteComponent(() => import("../access/approval-page.tsx"), "ApprovalPage"),
});

const audit = createRoute({
  getParentRoute: () => shell,
  path: "/audit",
  component: lazyRouteComponent(() => import("../audit/audit-page.tsx"), "AuditPage"),
  validateSearch: auditSearchOf,
});

const auditEntries = createRoute({
  getParentRoute: () => shell,
  path: "/audit/entries",
  component: lazyRouteComponent(() => import("../audit/entries-page.tsx"), "EntriesPage"),
  validateSearch: entriesSearchOf,
});

const reviews = createRoute({
  getParentRoute: () => shell,
  path: "/audit/reviews",
  component: lazyRouteComponent(() => import("../audit/reviews-page.tsx"), "ReviewsPage"),
});

const people = createRoute({
  getParentRoute: () => shell,
  path: "/access",
  component: lazyRouteComponent(() => import("../access/people-page.tsx"), "PeoplePage"),
});

const sessions = createRoute({
  getParentRoute: () => shell,
  path: "/access/sessions",
  component: lazyRouteComponent(() => import("../access/sessions-page.tsx"), "SessionsPage"),
});

const tokens = createRoute({
  getParentRoute: () => shell,
  path: "/access/tokens",
  component: lazyRouteComponent(() => import("../access/tokens-page.tsx"), "TokensPage"),
});

const cases = createRoute({
  getParentRoute: () => shell,
  path: "/access/cases",
  component: lazyRouteComponent(() => import("../access/cases-page.tsx"), "CasesPage"),
  validateSearch: ({ open }: Readonly<Record<string, unknown>>): { open?: boolean } =>
    typeof open === "boolean" ? { open } : {},
});

const AUDIT_AND_ACCESS = [approvals, approval, audit, auditEntries, reviews, people, sessions, tokens, cases] as const;

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    shell.addChildren([
      home,
      searchRoute,
      eventRoute,
      keyRoute,
      compareRoute,
      live,
      rejections,
      latestRejections,
      probes,
      drift,
      ...FEATURES,
      health,
      ...PRIVACY,
      ...AUDIT_AND_ACCESS,
    ]),
  ]),
  basepath: ROUTER_BASE,
  defaultPreload: "intent",
  // A version such as root_traces@2 is readable in the address.
  pathParamsAllowedCharacters: ["@"],
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
