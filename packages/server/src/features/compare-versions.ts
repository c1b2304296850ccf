/** Computes versions of features for stored events. The versions need not be adopted. */
import type { Bundle, Result } from "@device-risk-signals/features";
import { isTimeLimited } from "@device-risk-signals/features/result";
import { readEvent } from "@device-risk-signals/features/readings";
import { type EventFilter, listEvents } from "../store/events/list-events.ts";
import { readEvents } from "../store/events/read-events.ts";
import type { Sealer } from "../base/ports.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { Confusion, type Counts } from "./confusion.ts";
import { type OpenedEvent, openForFeatures } from "./open-event.ts";
import { binOf } from "./tally.ts";
import { TimeShares } from "./time-shares.ts";
import { readCovers } from "./verify-values.ts";

const PAGE_SIZE = 500;
/** Number of events whose exact bytes are in memory at once. */
const SLICE_SIZE = 64;
/** A longer limit than that of extraction, because extraction may keep the machine busy. */
const BUDGET_MS = 50;
/** Milliseconds for the slow events of an account, which leave the events of others decided. */
const ACCOUNT_MS = 2_000;

export interface ComparePorts {
  readonly executor: Executor;
  readonly sealer: Sealer;
  readonly policyVersion: number;
  /** Called after each page except the last, with the number of events so far. */
  readonly onProgress: (events: number) => void;
}

type StoredFilter = EventFilter & { readonly purpose: number };

/**
 * Compares two versions for all events that are not erased, expired or restricted. An event is undecided if it can't be
 * opened, or if a version took too long for it.
 */
export async function compareVersions(
  ports: ComparePorts,
  versions: readonly [before: Bundle, after: Bundle],
  filter: StoredFilter,
): Promise<Counts> {
  const confusion = new Confusion();
  let [events, undecided] = [0, 0];
  const unreadable = await computeStored(ports, versions, filter, ({ event }, [before, after]) => {
    if (!before || !after || isTimeLimited(before) || isTimeLimited(after)) {
      undecided++;
      return;
    }
    events++;
    const { platform, sdkVersion: sdk_version } = event;
    confusion.add({
      platform,
      sdk_version,
      before: resultName(versions[0], before),
      after: resultName(versions[1], after),
    });
  });
  return { events, undecided: undecided + unreadable, cells: confusion.cells };
}

/**
 * Computes versions for the stored events of a purpose, without erased, expired and restricted ones.
 * @param onResults called for each event that can be opened, with a result for each version, in their order.
 * @returns the number of events that can't be opened.
 */
export async function computeStored(
  { executor, sealer, policyVersion, onProgress }: ComparePorts,
  versions: readonly Bundle[],
  filter: StoredFilter,
  onResults: (event: OpenedEvent, results: readonly Result[]) => void,
): Promise<number> {
  const covers = await readCovers(executor, filter.purpose, policyVersion);
  // Loaded here, so that a server that computes no versions does not load it.
  const { openRunner } = await import("@device-risk-signals/features/runner");
  const runner = await openRunner(versions, { budgetMs: BUDGET_MS });
  const accountTime = new TimeShares(ACCOUNT_MS);
  let [events, unreadable] = [0, 0];
  const compute = async (opened: readonly OpenedEvent[]): Promise<void> => {
    const inputs = opened.map(({ parsed }) => readEvent(parsed, covers));
    const accounts = opened.map(({ event }) => event.account);
    const results = await accountTime.spend(accounts, (shares) => runner.run(inputs, shares));
    for (const [index, event] of opened.entries()) onResults(event, results.events[index] ?? []);
  };
  try {
    for (let last: string | undefined; ;) {
      const page = await listEvents(executor, filter, PAGE_SIZE, last);
      const keys = page.map(({ purpose, received_at, event_id }) => {
        return { purpose, receivedAt: Date.parse(received_at), eventId: event_id };
      });
      for (let at = 0; at < keys.length; at += SLICE_SIZE) {
        const opened: OpenedEvent[] = [];
        const read = await readEvents(executor, keys.slice(at, at + SLICE_SIZE));
        for (const one of await openForFeatures(sealer, read)) {
          if ("parsed" in one) opened.push(one);
          else unreadable++;
        }
        await compute(opened);
      }
      last = page.at(-1)?.event_id;
      if (page.length < PAGE_SIZE) return unreadable;
      onProgress((events += page.length));
    }
  } finally {
    await runner.close();
  }
}

const resultName = ({ manifest }: Bundle, result: Result): string =>
  result.state === "observed" ? `observed ${binOf(manifest.output, result)}` : result.state;
