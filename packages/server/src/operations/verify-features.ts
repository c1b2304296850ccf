import type { Input } from "@device-risk-signals/admin-api";
import { OperatorError } from "../base/errors/operator-error.ts";
import { listEvents } from "../store/events/list-events.ts";
import { findAttributes, type ListedEvent } from "../store/events/read-events.ts";
import { listLayers } from "../features/decisions.ts";
import { LayerRunners } from "../features/layer-runners.ts";
import { verifyPrograms } from "../features/verify-programs.ts";
import { NOTHING_VERIFIED, slowTimeOf, sumOf, type Verified, verifyValues } from "../features/verify-values.ts";
import { requirePurposeCode } from "../purposes/policy-table.ts";
import { withOwner } from "../store/postgres/database.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { type AuditPorts, auditNotFound } from "./audit-around.ts";
import { invalid } from "./input.ts";
import type { Operation, OperationCall } from "./operation.ts";
import { type Ports, type ReplayedPorts, requireReplayedJournal } from "./ports.ts";

const PAGE_SIZE = 500;
const MAX_SHOWN = 100;
/**
 * The time limit of one computation. It is long, because this process shares the machine with other processes. No value
 * depends on the limit.
 */
const BUDGET_MS = 50;

type VerifyPorts = "administration" | "report" | `keys.${"featureSealer" | "sealer"}` | AuditPorts | ReplayedPorts;

export const verifyFeatures: Operation<"verifyFeatures", VerifyPorts> = async (call) => {
  const { ports, input } = call;
  await requireReplayedJournal(ports);
  const { from, to, purpose } = input;
  const runners = new LayerRunners({ budgetMs: BUDGET_MS });
  try {
    const verified = await withOwner(ports.administration, (executor) => verify(executor, call, runners));
    const members = (await listLayers(ports.pool)).flatMap((layer) => layer.members);
    const programs = await verifyPrograms(ports.pool, [...new Set(members)].toSorted());
    const { differences, ...counts } = verified;
    const eventId = input.event_id?.toLowerCase();
    return {
      answer: {
        ...counts,
        differences: differences.slice(0, MAX_SHOWN),
        programs: programs.map((program) => ({ ...program, problems: [...program.problems] })),
      },
      audit: {
        ...(eventId !== undefined && { eventIds: [eventId] }),
        detail: {
          ...counts,
          ...(from !== undefined && { from }),
          ...(to !== undefined && { to }),
          ...(purpose && { purpose }),
        },
      },
    };
  } finally {
    await runners.close();
  }
};

/**
 * Reads events with the owner's login, because no other login of the admin API may read payloads without an audit entry
 * for each.
 */
async function verify(
  executor: Executor,
  call: OperationCall<"verifyFeatures", VerifyPorts>,
  runners: LayerRunners,
): Promise<Verified> {
  const { ports, input } = call;
  const extraction = { ...(await ports.keys()), runners, slowTime: slowTimeOf() };
  const verifyListed = (events: readonly ListedEvent[]): Promise<Verified> =>
    verifyValues(executor, extraction, events.map(keyOf));
  if (input.event_id !== undefined) {
    if (input.from ?? input.to ?? input.purpose) throw invalid("query", "event_id excludes from, to and purpose");
    const event = await findAttributes(executor, input.event_id.toLowerCase());
    if (event) return verifyListed([event]);
    await auditNotFound(call, "verifyFeatures", { eventIds: [input.event_id.toLowerCase()] });
    throw new OperatorError(
      "not-found",
      "The event has expired or may not be read: its values can't be computed again.",
    );
  }
  const filter = await filterOf(ports, input);
  let [total, after] = [NOTHING_VERIFIED, undefined as string | undefined];
  for (;;) {
    const page = await listEvents(executor, filter, PAGE_SIZE, after);
    const { differences, ...sum } = sumOf(total, await verifyListed(page));
    total = { ...sum, differences: differences.slice(0, MAX_SHOWN) };
    if (page.length < PAGE_SIZE) return total;
    after = page.at(-1)?.event_id;
    ports.report(`${total.events} events, ${total.different} of ${total.rows} rows different`);
  }
}

const keyOf = ({ purpose, received_at, event_id }: ListedEvent) => ({
  purpose,
  receivedAt: Date.parse(received_at),
  eventId: event_id,
});

async function filterOf(
  { pool }: Ports<"pool">,
  { from, to, purpose }: Input<"verifyFeatures">,
): Promise<{ from?: number; to?: number; purpose?: number }> {
  const code = purpose === undefined ? undefined : await requirePurposeCode(pool, purpose);
  return {
    ...(from !== undefined && { from: Date.parse(from) }),
    ...(to !== undefined && { to: Date.parse(to) }),
    ...(code !== undefined && { purpose: code }),
  };
}
