import { readSetting } from "../config/config.ts";
import type { Context } from "./context.ts";

/** The admin API that commands go through. */
export interface Login {
  readonly url: string;
  readonly token: string;
}

/** @returns `undefined` where no admin API is configured: then commands work on the database. */
export function findLogin({ environment }: Context): Login | undefined {
  const url = readSetting("service.remote.url", environment);
  const token = readSetting("service.remote.token", environment);
  return url === undefined || token === undefined ? undefined : { url, token };
}
