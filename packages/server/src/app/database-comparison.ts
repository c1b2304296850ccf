import { hasCode, isOfArea } from "../errors/operator-error.ts";
import type { Dependency } from "../dependencies/dependencies.ts";
import type { OnError } from "../ports.ts";
import type { Replayed } from "../lifecycle/recovery/replay-journal.ts";
import { type DatabaseIdentity, isSameOrLater } from "../postgres/database-identity.ts";

const NOT_COMPARED_MESSAGE = "may be an older copy: nothing is stored before it is compared with the erasure journal";

export interface ComparisonOptions {
  readonly database: Dependency;
  /** The database that was compared at start. */
  readonly identity: DatabaseIdentity;
  /** Compares the database with the journal, and applies what it lacks. @throws an error with a journal-… code, Unavailable */
  readonly replay: () => Promise<Pick<Replayed, "erasures" | "holdOrders" | "restrictionOrders">>;
  /** Forgets what was read before of a database that was replaced or that lacked entries of the journal. @throws Unavailable */
  readonly forget: () => Promise<void>;
  readonly onError: OnError;
}

/**
 * Reports the database as behind from a connection to another one, or to an older state of it, until it was compared with
 * the erasure journal. One that is the same as before is compared as well, and not reported meanwhile: a silent journal
 * must not keep events from being stored.
 */
export class DatabaseComparison {
  readonly #options: ComparisonOptions;
  #compared: DatabaseIdentity;
  #present: DatabaseIdentity;
  #connections = 0;
  #isDue = false;
  /**
   * Whether data that was read before may be wrong, because the database was replaced; false again once it is
   * forgotten.
   */
  #isReplaced = false;
  #running: Promise<unknown> | undefined;
  #reported: string | undefined;

  constructor(options: ComparisonOptions) {
    this.#options = options;
    this.#compared = options.identity;
    this.#present = options.identity;
  }

  /** Called with the identity that a monitor reads on its connection, at each check. */
  observe(identity: DatabaseIdentity, isNewConnection: boolean): void {
    const { database } = this.#options;
    this.#present = identity;
    const isKnown = isSameOrLater(this.#compared, identity);
    if (isKnown) this.#compared = identity;
    if (isNewConnection) {
      this.#connections++;
      if (!isKnown) database.report("behind", NOT_COMPARED_MESSAGE);
    }
    this.#isReplaced ||= !isKnown;
    this.#isDue ||= isNewConnection || !isKnown || database.has("behind");
    if (!this.#isDue || this.#running) return;
    this.#isDue = false;
    this.#running = this.compare()
      .then(() => (this.#reported = undefined))
      .catch((error: unknown) => this.#report(error))
      .finally(() => (this.#running = undefined));
  }

  /** @throws an error with a journal-… code, Unavailable */
  async compare(): Promise<void> {
    const { database, replay, forget } = this.#options;
    const [connection, present] = [this.#connections, this.#present];
    try {
      const { erasures, holdOrders, restrictionOrders } = await replay();
      this.#isReplaced ||= erasures + holdOrders + restrictionOrders > 0;
    } catch (error) {
      if (isOfArea(error, "journal") || hasCode(error, "key-store-outdated")) database.report("behind", error.message);
      throw error;
    }
    if (this.#isReplaced) await forget();
    // Another database may have replaced this one meanwhile.
    if (connection !== this.#connections) return;
    this.#compared = present;
    this.#isReplaced = false;
    database.resolve("behind");
  }

  /** Waits for the comparison that is under way. */
  async close(): Promise<void> {
    await this.#running;
  }

  /** The comparison is repeated at each check: the same error is reported once. */
  #report(error: unknown): void {
    const text = String(error);
    if (text !== this.#reported) this.#options.onError(error, "compare database with journal");
    this.#reported = text;
  }
}
