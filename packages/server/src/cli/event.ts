import { LIMITS } from "@device-risk-signals/contract";
import { Command } from "commander";
import { OperatorError } from "../errors/operator-error.ts";
import { areKeysDestroyed, type StoredEvent } from "../ports.ts";
import type { Installation } from "../app/open-installation.ts";
import { readPurposeIds } from "../policy/policy-table.ts";
import { inSnapshot } from "../postgres/database.ts";
import type { Executor, Transaction } from "../postgres/executor.ts";
import { releasingLocks } from "../events/partition-slices.ts";
import { isAcceptedLoss } from "../accounts/secret-losses.ts";
import { type EventFilter, findEvent, type FoundEvent, type ListedEvent, listEvents } from "../events/read-events.ts";
import { auditRead, withReplayed } from "./audit-read.ts";
import { type Context, printJson, printRows } from "./context.ts";
import { timelineCommand } from "./event-timeline.ts";
import { account, count, example, name, uuid } from "./options.ts";
import { reasonReader } from "./reason.ts";

/** Rows that one query of a long listing fetches. */
const PAGE = 1_000;

const INCLUDE_RESTRICTED = "also events that are excluded from analysis";

interface GetOptions {
  readonly raw?: boolean;
  readonly includeRestricted?: boolean;
  readonly reason?: string;
  readonly json?: boolean;
}

interface ListOptions {
  readonly account?: string;
  readonly action?: string;
  readonly actionType?: string;
  readonly sdkVersion?: string;
  readonly includeRestricted?: boolean;
  readonly reason?: string;
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
    .description("Show an event's promoted attributes, or with --raw its exact bytes. Audited.")
    .argument("<event-id>", "as the endpoint answered it", uuid)
    .option("--raw", "write the exact bytes, and nothing else, to standard output")
    .option("--include-restricted", INCLUDE_RESTRICTED)
    .option("--reason <text>", "why; required with --raw and --include-restricted", reasonReader(context))
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      example("drs event get 019a…-…", 'drs event get 019a…-… --raw --reason "dispute 4711" > event.json'),
    )
    .action(async (eventId: string, options: GetOptions, self: Command) => {
      if (options.raw && options.reason === undefined) {
        self.error("error: --raw needs --reason: every raw read is audited with its reason");
      }
      requireReason(options, self);
      await withReplayed(context, async (installation) => {
        const { includeRestricted = false, reason, raw } = options;
        const event = await findEvent(installation.pool, eventId, { includeRestricted });
        const read = {
          operation: raw ? "event.read_raw" : "event.read",
          eventId,
          reason,
          ...(includeRestricted && { detail: { include_restricted: true, restricted: event?.restricted } }),
        };
        if (!event) {
          await auditRead(context, installation, { ...read, outcome: "not-found" });
          throw noEvent(eventId, includeRestricted);
        }
        const audit = (): Promise<void> =>
          auditRead(context, installation, { ...read, outcome: "done", account: event.account });
        if (options.raw) await writeRaw(context, installation, event, audit);
        else await printAttributes(context, installation, event, audit, options.json ?? false);
      });
    });

  command
    .command("list")
    .description("List events by account, action, action type or SDK version. Audited.")
    .option("--account <account>", "of this account", account)
    .option("--action <id>", "of this action", name("an action id", LIMITS.actionId))
    .option("--action-type <type>", "of this action type", name("an action type", LIMITS.actionType))
    .option("--sdk-version <version>", "of this SDK version", name("an SDK version", LIMITS.sdkVersion))
    .option("--include-restricted", INCLUDE_RESTRICTED)
    .option("--reason <text>", "why; required with --include-restricted", reasonReader(context))
    .option("--limit <n>", "maximum number of rows; 0 = no limit", count, 50)
    .option("--after <event-id>", "continue after this event", uuid)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs event list --account customer-1 --limit 10 --json"))
    .action(async (options: ListOptions, self: Command) => {
      requireReason(options, self);
      const filter: EventFilter = {
        includeRestricted: options.includeRestricted ?? false,
        ...(options.account !== undefined && { account: options.account }),
        ...(options.action !== undefined && { actionId: options.action }),
        ...(options.actionType !== undefined && { actionType: options.actionType }),
        ...(options.sdkVersion !== undefined && { sdkVersion: options.sdkVersion }),
      };
      await withReplayed(context, (installation) => printList(context, installation, filter, options));
    });

  command.addCommand(timelineCommand(context));
  return command;
}

/** A restriction allows few reads (GDPR, article 18 (2)): the audit has the reason of each. */
function requireReason(
  { includeRestricted, reason }: Pick<GetOptions, "includeRestricted" | "reason">,
  self: Command,
): void {
  // guard(false): a read of restricted events has a reason
  // fails: e2e/restrictions.test.ts › wrong usage
  if (includeRestricted && reason === undefined) self.error("error: --include-restricted needs --reason");
}

/** The same answer for an event that is restricted and for one that does not exist. */
const noEvent = (eventId: string, includeRestricted: boolean): OperatorError =>
  new OperatorError(
    "not-found",
    `There is no event ${eventId}${includeRestricted ? "." : ", or it is restricted: see --include-restricted."}`,
  );

/** @param audit durable before the first byte leaves. */
async function writeRaw(
  context: Context,
  { sealer, pool }: Installation,
  event: StoredEvent,
  audit: () => Promise<void>,
): Promise<void> {
  const exact = await sealer.open(event, event.sealedUnder, event.payload).catch(async (error: unknown) => {
    if (!areKeysDestroyed(error) || !(await isAcceptedLoss(pool, error.detail.secrets))) throw error;
    throw new OperatorError(
      "keys-destroyed",
      "The secrets of this event were lost, and the loss was accepted: its attributes are all that can be read.",
      { detail: error.detail },
    );
  });
  await audit();
  await new Promise<void>((resolve, reject) => {
    context.stdout.write(exact, (error) => (error ? reject(error) : resolve()));
  });
}

async function printAttributes(
  context: Context,
  { pool }: Installation,
  event: FoundEvent,
  audit: () => Promise<void>,
  json: boolean,
): Promise<void> {
  const purposes = await readPurposeIds(pool);
  await audit();
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
    held: event.held,
    restricted: event.restricted,
  };
  if (json) return printJson(context, shown);
  const rows = Object.entries(shown).map(([attribute, value]) => ({ attribute, value }));
  printRows(context, rows, false, "");
}

/**
 * The audit entry is durable before the first row leaves, and counts the rows of the snapshot that the rows are printed
 * from.
 */
function printList(
  context: Context,
  installation: Installation,
  filter: EventFilter,
  options: ListOptions,
): Promise<void> {
  return inSnapshot(installation.database, (snapshot) =>
    printSnapshot(context, installation, snapshot, filter, options),
  );
}

async function printSnapshot(
  context: Context,
  installation: Installation,
  snapshot: Transaction,
  filter: EventFilter,
  options: ListOptions,
): Promise<void> {
  const reading = releasingLocks(snapshot);
  const { after, json = false } = options;
  const limit = options.limit === 0 ? Number.POSITIVE_INFINITY : options.limit;
  const purposes = await readPurposeIds(reading);
  const first = await listEvents(reading, filter, Math.min(PAGE, limit), after);
  const behind = first.length === PAGE ? first.at(-1)?.event_id : undefined;
  let rest = 0;
  for await (const page of pagesBehind(reading, filter, limit - first.length, behind)) rest += page.length;
  await auditRead(context, installation, {
    operation: "event.list",
    outcome: "done",
    account: options.account,
    reason: options.reason,
    detail: { filter: shownFilter(options), limit: options.limit, count: first.length + rest },
  });

  const collected: ListedEvent[] = [];
  const take = (page: readonly ListedEvent[]): void => {
    if (json) for (const row of page) printJson(context, { ...row, purpose: purposes.get(row.purpose) });
    else collected.push(...page);
  };
  take(first);
  for await (const page of pagesBehind(reading, filter, rest, behind)) {
    if (context.stdout.destroyed) break;
    take(page);
  }
  if (json) return;
  const columns = collected.map(
    ({ event_id, received_at, account, action_type, action_id, platform, sdk_version, held, restricted }) => {
      return { event_id, received_at, account, action_type, action_id, platform, sdk_version, held, restricted };
    },
  );
  printRows(context, columns, false, "No events.");
}

/**
 * Yields pages of the events after the event `behind`: at most `limit` events in total, and nothing if `behind` is
 * undefined.
 */
async function* pagesBehind(
  executor: Executor,
  filter: EventFilter,
  limit: number,
  behind: string | undefined,
): AsyncGenerator<readonly ListedEvent[]> {
  let [left, after] = [limit, behind];
  while (left > 0 && after !== undefined) {
    const wanted = Math.min(PAGE, left);
    const page = await listEvents(executor, filter, wanted, after);
    if (page.length > 0) yield page;
    left -= page.length;
    after = page.length < wanted ? undefined : page.at(-1)?.event_id;
  }
}

/** The filter for the audit, which names the account in a column of its own. */
function shownFilter({ action, actionType, sdkVersion, after, includeRestricted }: ListOptions): object {
  const filter = {
    action_id: action,
    action_type: actionType,
    sdk_version: sdkVersion,
    after,
    include_restricted: includeRestricted,
  };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}
