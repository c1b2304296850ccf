import { LIMITS } from "@device-risk-signals/contract";
import { Command } from "commander";
import type { StoredEvent } from "../ports.ts";
import type { System } from "../operations/system.ts";
import { purposeIds } from "../purposes/policy-table.ts";
import { writeAudit } from "../store/audit.ts";
import type { EventRow } from "../store/event-row.ts";
import { type EventFilter, findEvent, listEvents } from "../store/read-events.ts";
import { type Context, Failure, operatorOf, printJson, printRows, withSystem } from "./context.ts";
import { account, count, example, name, uuid } from "./options.ts";

/** Rows that one query of a long listing fetches. */
const PAGE = 1_000;

interface GetOptions {
  readonly raw?: boolean;
  readonly reason?: string;
  readonly json?: boolean;
}

interface ListOptions {
  readonly account?: string;
  readonly action?: string;
  readonly actionType?: string;
  readonly sdkVersion?: string;
  readonly limit: number;
  readonly after?: string;
  readonly json?: boolean;
}

export function eventCommand(context: Context): Command {
  const command = new Command("event")
    .description("Stored events.")
    .addHelpText("after", example("drs event list --account customer-1"));

  command
    .command("get")
    .description("Show an event's promoted attributes, or with --raw its exact bytes. A raw read is audited.")
    .argument("<event-id>", "as the endpoint answered it", uuid)
    .option("--raw", "write the exact bytes, and nothing else, to standard output")
    .option("--reason <text>", "why the raw event is read; required with --raw", name("a reason", 1_000))
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      example("drs event get 019a…-…", 'drs event get 019a…-… --raw --reason "dispute 4711" > event.json'),
    )
    .action(async (eventId: string, options: GetOptions, self: Command) => {
      if (options.raw && options.reason === undefined) {
        self.error("error: --raw needs --reason: every raw read is audited with its reason");
      }
      await withSystem(context, async (system) => {
        const event = await findEvent(system.pool, eventId);
        if (!event) throw new Failure(`There is no event ${eventId}.`);
        if (options.raw) await writeRaw(context, system, event, options.reason ?? "");
        else printAttributes(context, event, await purposeIds(system.pool), options.json ?? false);
      });
    });

  command
    .command("list")
    .description("List events by account, action, action type or SDK version, newest first.")
    .option("--account <account>", "of this account", account)
    .option("--action <id>", "of this action", name("an action id", LIMITS.actionId))
    .option("--action-type <type>", "of this action type", name("an action type", LIMITS.actionType))
    .option("--sdk-version <version>", "of this SDK version", name("an SDK version", LIMITS.sdkVersion))
    .option("--limit <n>", "at most so many; 0 for all", count, 50)
    .option("--after <event-id>", "go on behind this event", uuid)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs event list --account customer-1 --limit 10 --json"))
    .action(async (options: ListOptions) => {
      const filter: EventFilter = {
        ...(options.account !== undefined && { account: options.account }),
        ...(options.action !== undefined && { actionId: options.action }),
        ...(options.actionType !== undefined && { actionType: options.actionType }),
        ...(options.sdkVersion !== undefined && { sdkVersion: options.sdkVersion }),
      };
      await withSystem(context, (system) => printList(context, system, filter, options));
    });

  return command;
}

/** The audit entry is durable before the first byte leaves. */
async function writeRaw(context: Context, system: System, event: StoredEvent, reason: string): Promise<void> {
  const { pool, clock, sealer } = system;
  const exact = await sealer.open(event, event.sealedUnder, event.payload);
  await writeAudit(pool, clock, {
    actor: operatorOf(context),
    operation: "event.read_raw",
    outcome: "done",
    account: event.account,
    eventId: event.eventId,
    reason,
  });
  await new Promise<void>((resolve, reject) => {
    context.stdout.write(exact, (fault) => (fault ? reject(fault) : resolve()));
  });
}

function printAttributes(
  context: Context,
  event: StoredEvent,
  purposes: ReadonlyMap<number, string>,
  json: boolean,
): void {
  const shown = {
    event_id: event.eventId,
    idempotency_key: event.idempotencyKey,
    account: event.account,
    action_id: event.actionId,
    action_type: event.actionType,
    purpose: purposes.get(event.purpose),
    session_id: event.sessionId,
    event_type: event.eventType,
    schema_version: event.schemaVersion,
    sdk_version: event.sdkVersion,
    platform: event.platform,
    app_version: event.appVersion,
    collected_at: event.collectedAt,
    received_at: new Date(event.receivedAt).toISOString(),
  };
  if (json) return printJson(context, shown);
  const rows = Object.entries(shown).map(([attribute, value]) => ({ attribute, value }));
  printRows(context, rows, false, "");
}

async function printList(context: Context, { pool }: System, filter: EventFilter, options: ListOptions): Promise<void> {
  const json = options.json ?? false;
  const most = options.limit === 0 ? Number.POSITIVE_INFINITY : options.limit;
  const purposes = await purposeIds(pool);
  const collected: (Omit<EventRow, "purpose"> & { purpose: string | undefined })[] = [];
  let printed = 0;
  let after = options.after;
  for (;;) {
    const wanted = Math.min(PAGE, most - printed - collected.length);
    const rows = await listEvents(pool, filter, wanted, after);
    const page = rows.map((row) => ({ ...row, purpose: purposes.get(row.purpose) }));
    after = page.at(-1)?.event_id;
    if (json) {
      printRows(context, page, true, "");
      printed += page.length;
    } else collected.push(...page);
    if (context.stdout.destroyed || page.length < wanted || printed + collected.length >= most) break;
  }
  if (json) return;
  const columns = collected.map(({ event_id, received_at, account, action_type, action_id, platform, sdk_version }) => {
    return { event_id, received_at, account, action_type, action_id, platform, sdk_version };
  });
  printRows(context, columns, false, "No events.");
}
