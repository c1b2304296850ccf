import { LIMITS } from "@device-risk-signals/contract";
import type { Answer } from "@device-risk-signals/admin-api";
import { Command } from "commander";
import { plural } from "../base/messages/plural.ts";
import { call } from "./call.ts";
import { type Context, print, printJson } from "./context.ts";
import { printRows } from "./table.ts";
import { account, count, example, name } from "./options.ts";

/** Maximum number of entries that the route lists. */
const MAX_ENTRIES = 100_000;

interface Options {
  readonly account: string;
  readonly idempotencyKey: string;
  readonly limit: number;
  readonly json?: boolean;
}

/** `drs event timeline`. */
export function timelineCommand(context: Context): Command {
  return new Command("timeline")
    .description("Show what the audit has of an idempotency key: retries and conflicts. Audited.")
    .requiredOption("--account <account>", "the account that sent it", account)
    .requiredOption("--idempotency-key <key>", "the key", name("an idempotency key", LIMITS.idempotencyKey))
    .option("--limit <n>", "maximum number of entries; 0 = no limit", count, 100)
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs event timeline --account customer-1 --idempotency-key 7d3f…"))
    .action(async ({ account: sender, idempotencyKey: idempotency_key, limit, json = false }: Options) => {
      const wanted = limit === 0 ? MAX_ENTRIES : Math.min(limit, MAX_ENTRIES);
      const timeline = await call(context, "readTimeline", { account: sender, idempotency_key, limit: wanted });
      if (json) printJson(context, timeline);
      else printTimeline(context, timeline);
    });
}

function printTimeline(context: Context, timeline: Answer<"readTimeline">): void {
  const { event_id, state, erased_at, entries, more, unnamed } = timeline;
  if (state === "erased") {
    print(context, `Erased: since ${erased_at} only a keyed hash of the key is left, which answers retries.`);
    return;
  }
  print(context, `Event ${event_id}`);
  if (state === "expired") print(context, "It was deleted at the end of its period. The key still answers retries.");
  printRows(context, entries, "No audit entries.");
  if (more) print(context, "There are more entries: see --limit.");
  if (entries.some(({ events }) => events > 1)) {
    print(context, "If an entry names several events, its occurrences are those of all these events.");
  }
  if (unnamed.entries > 0) {
    const retries = plural(unnamed.occurrences, "retry", "retries");
    print(context, `Not attributed: ${plural(unnamed.entries, "entry", "entries")} with ${retries} of the account,`);
    print(context, "some of which may be of this key: an entry names 100 events at most.");
  }
}
