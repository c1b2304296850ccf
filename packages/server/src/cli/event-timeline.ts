import { LIMITS } from "@device-risk-signals/contract";
import { Command } from "commander";
import { type Timeline, timelineOfIdempotencyKey } from "../audit/timeline.ts";
import { OperatorError } from "../errors/operator-error.ts";
import { plural } from "../messages/plural.ts";
import { auditRead, withReplayed } from "./audit-read.ts";
import { type Context, print, printJson, printRows } from "./context.ts";
import { account, count, example, name } from "./options.ts";

const ALL = 1_000_000_000;

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
    .action(({ account: sender, idempotencyKey, limit, json = false }: Options) =>
      withReplayed(context, async (installation) => {
        const timeline = await timelineOfIdempotencyKey(
          installation.pool,
          installation.audit.named(sender),
          idempotencyKey,
          limit || ALL,
        );
        const read = { operation: "event.timeline", account: sender };
        if (!timeline) {
          await auditRead(context, installation, { ...read, outcome: "not-found" });
          throw new OperatorError("not-found", "No event of this account holds this idempotency key.");
        }
        await auditRead(context, installation, { ...read, outcome: "done", eventId: timeline.event_id });
        if (json) printJson(context, timeline);
        else printTimeline(context, timeline);
      }),
    );
}

function printTimeline(context: Context, { event_id, entries, more, unnamed }: Timeline): void {
  print(context, `Event ${event_id}`);
  printRows(context, entries, false, "No audit entries.");
  if (more) print(context, "There are more entries: see --limit.");
  if (entries.some(({ events }) => events > 1)) {
    print(context, "Where an entry names several events, its occurrences are those of all of them.");
  }
  if (unnamed.entries > 0) {
    const retries = plural(unnamed.occurrences, "retry", "retries");
    print(context, `Not attributed: ${plural(unnamed.entries, "entry", "entries")} with ${retries} of the account,`);
    print(context, "some of which may be of this key: an entry names 100 events at most.");
  }
}
