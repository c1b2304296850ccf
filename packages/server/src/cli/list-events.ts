/** The command `drs event list` if it uses the admin API. */
import { withCalls } from "./call.ts";
import type { Context } from "./context.ts";
import type { Listing, ReceivePage } from "./events-on-database.ts";
import { pagesOf } from "./pages.ts";

/** Lists events through the admin API, which writes an audit entry for each page. */
export function listThroughApi(
  context: Context,
  { limit, after, ...options }: Listing,
  take: ReceivePage,
): Promise<void> {
  const { account, action: action_id, actionType: action_type, sdkVersion: sdk_version } = options;
  const filter = Object.fromEntries(
    Object.entries({ account, action_id, action_type, sdk_version }).filter(([, value]) => value !== undefined),
  );
  return withCalls(context, "audited-read", async (call) => {
    const read = async (page: { readonly limit: number; readonly after?: string }) => {
      const { events, next } = await call("listEvents", { ...filter, ...page });
      return { rows: events, next };
    };
    for await (const page of pagesOf(limit, read, after)) {
      take(page);
      if (context.stdout.destroyed) break;
    }
  });
}
