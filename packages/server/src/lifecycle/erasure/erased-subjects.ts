import type { Pseudonymizer } from "../../store/crypto/pseudonymizer.ts";
import { searchEventsOf, subjectSearch } from "../../store/events/search-events.ts";
import type { ErasureEntry } from "../journal/journal.ts";
import { readPurposeIds } from "../../purposes/policy-table.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { accountsToErase, namesOf } from "../holds/known-names.ts";
import { type ErasureSubject, subjectMac } from "./plan-erasure.ts";

/**
 * Maximum number of erased events that are read to find their action. If none of them has the erased action, all
 * actions in the database are compared.
 */
const EVENTS_READ = 5;

/**
 * Finds the names of erased subjects in a restored database. The journal has only keyed MACs of these names. The names
 * are needed, because a backup of another history has keys and events of a subject under ids that the journal does not
 * contain. A backup belongs to another history if, for example, an older backup was restored after this backup was
 * made.
 */
export class ErasedSubjectSearch {
  readonly #pseudonymizer: Pseudonymizer;
  readonly #kindByMac: ReadonlyMap<string, ErasureEntry["kind"]>;
  readonly #searched = new Map<ErasureEntry["kind"], Promise<ReadonlyMap<string, ErasureSubject>>>();

  /** @param entries all entries whose subjects may be searched for. One search finds all of these subjects. */
  constructor(pseudonymizer: Pseudonymizer, entries: readonly ErasureEntry[]) {
    this.#pseudonymizer = pseudonymizer;
    this.#kindByMac = new Map(entries.flatMap(({ kind, subject }) => (subject === null ? [] : [[subject, kind]])));
  }

  /**
   * @returns `undefined` if the database does not know the subject; also for events and holds, which are found by their
   * ids.
   */
  async find(reading: Executor, entry: ErasureEntry): Promise<ErasureSubject | undefined> {
    const { kind, subject, events } = entry;
    if (subject === null || kind === "event" || kind === "hold") return undefined;
    if (kind === "action") {
      for await (const found of actionsOf(reading, events.slice(0, EVENTS_READ))) {
        if (this.#macOf(found) === subject) return found;
      }
    }
    let searched = this.#searched.get(kind);
    if (!searched) this.#searched.set(kind, (searched = this.#search(reading, kind)));
    return (await searched).get(subject);
  }

  async #search(reading: Executor, kind: "account" | "purpose" | "action"): Promise<Map<string, ErasureSubject>> {
    const found = new Map<string, ErasureSubject>();
    for await (const subject of SUBJECTS[kind](reading)) {
      const mac = this.#macOf(subject);
      if (this.#kindByMac.get(mac) === kind) found.set(mac, subject);
    }
    return found;
  }

  #macOf(subject: ErasureSubject): string {
    return subjectMac(this.#pseudonymizer, subject).toString("hex");
  }
}

const SUBJECTS = {
  async *account(reading: Executor): AsyncGenerator<ErasureSubject> {
    for await (const account of accountsToErase(reading)) yield { kind: "account", account };
  },
  async *purpose(reading: Executor): AsyncGenerator<ErasureSubject> {
    const purposes = [...(await readPurposeIds(reading)).keys()];
    for await (const account of accountsToErase(reading)) {
      for (const purpose of purposes) yield { kind: "purpose", account, purpose };
    }
  },
  async *action(reading: Executor): AsyncGenerator<ErasureSubject> {
    for await (const actionId of namesOf(reading, "action_id")) yield { kind: "action", actionId };
  },
};

const ACTION_OF = subjectSearch({ view: "kept_event", select: "action_id" }, { action_id: "text" });

/** Yields the actions of those events of an erasure that the database still has. */
async function* actionsOf(reading: Executor, events: readonly string[]): AsyncGenerator<ErasureSubject> {
  for (const eventId of events) {
    const found = searchEventsOf(reading, ACTION_OF, { kind: "event", eventId });
    for await (const { action_id: actionId } of found) yield { kind: "action", actionId };
  }
}
