import { apiPath } from "../app/base.ts";

export type Ways = readonly ("identity-provider" | "link")[];

/** How people sign in at this server. */
export const readWays = async (): Promise<Ways> =>
  ((await (await fetch(apiPath("/sign-in-ways"))).json()) as { readonly ways: Ways }).ways;
