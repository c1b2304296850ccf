import { BASE_PATH } from "@device-risk-signals/admin-api/route";

export type Ways = readonly ("identity-provider" | "link")[];

/** How people sign in at this server. */
export const readWays = async (): Promise<Ways> =>
  ((await (await fetch(`${BASE_PATH}/sign-in-ways`)).json()) as { readonly ways: Ways }).ways;
