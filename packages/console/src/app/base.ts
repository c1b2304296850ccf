/** Where browsers reach this installation: a proxy may publish it below a path of its origin. */
import { BASE_PATH } from "@device-risk-signals/admin-api/route";

/** The scripts are in `assets`. */
const base = new URL("..", import.meta.url);

/** Such as `https://ops.example/devices`, without a slash at its end. */
export const BASE_URL = base.href.replace(/\/$/, "");

/** Such as `/devices`; empty at the root. */
const PREFIX = base.pathname.replace(/\/$/, "");

/** The address of a path of the admin API. */
export const apiPath = (path: string): string => `${PREFIX}${BASE_PATH}${path}`;

/** The path of the shown page, as the router and the sign-in name it. */
export const ownPath = (): string => location.pathname.slice(PREFIX.length);

/** Where the router finds its paths. */
export const ROUTER_BASE = `${PREFIX}/`;
