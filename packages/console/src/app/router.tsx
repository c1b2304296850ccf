import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { SearchPage } from "../events/search-page.tsx";
import { searchOf } from "../events/search.ts";
import { SignInPage } from "../sign-in/sign-in-page.tsx";
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

const home = createRoute({
  getParentRoute: () => shell,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/events", replace: true });
  },
});

export const searchRoute = createRoute({
  getParentRoute: () => shell,
  path: "/events",
  component: SearchPage,
  validateSearch: searchOf,
});

export const eventRoute = createRoute({
  getParentRoute: () => shell,
  path: "/events/$eventId",
  component: lazyRouteComponent(() => import("../events/event-page.tsx"), "EventPage"),
});

export const compareRoute = createRoute({
  getParentRoute: () => shell,
  path: "/events/$eventId/compare/$otherId",
  component: lazyRouteComponent(() => import("../events/compare-page.tsx"), "ComparePage"),
});

export const router = createRouter({
  routeTree: root.addChildren([signIn, shell.addChildren([home, searchRoute, eventRoute, compareRoute])]),
  defaultPreload: "intent",
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
