import { hasCode, hasCodeOfArea } from "../base/errors/operator-error.ts";
import type { Dependency } from "../base/dependencies/dependencies.ts";
import type { OnError } from "../base/ports.ts";
import type { Replayed } from "../lifecycle/recovery/replay-journal.ts";
import { type DatabaseIdentity, isSameOrLater } from "../store/postgres/database-identity.ts";

const NOT_COMPARED_MESSAGE = "may be an older copy: nothing is stored before it is compared with the erasure journal";

export interface ComparisonOptions {
  readonly database: Dependency;
  /** The database that was compared at start. */
  readonly identity: DatabaseIdentity;
  /**
   * Compares the database with the journal, and applies what the database lacks. @throws an error with a journal-…
   * code, key-store-outdated, Unavailable
   */
  readonly replay: () => Promise<Pick<Replayed, "erasures" | "holdOrders" | "restrictionOrders">>;
  /**
   * Clears what this process has read from a database that was replaced, or that lacked entries of the journal. @throws
   * Unavailable
   */
  readonly forget: () => Promise<void>;
  readonly onError: OnError;
}

/**
 * Compares the database with the erasure journal after each new connection. If the connection leads to another
 * database, or to an older state of the database, the database counts as behind until the comparison has succeeded. If
 * the connection leads to the same database, the database counts as behind only after the comparison has failed with a
 * journal-… code or key-store-outdated: a journal that does not answer must not prevent ingestion.
 */
export class DatabaseComparison {
  readonly #options: ComparisonOptions;
  #compared: DatabaseIdentity;
  #present: DatabaseIdentity;
  #connections = 0;
  #isDue = false;
  /**
   * Whether data that was read earlier may be wrong, because the database was replaced or lacked entries of the
   * journal. It is false again after the data was forgotten.
   */
  #isReplaced = false;
  #running: Promise<unknown> | undefined;
  #reported: string | undefined;

  constructor(options: ComparisonOptions) {
    this.#options = options;
    this.#compared = options.identity;
    this.#present = options.identity;
  }

  /** A monitor calls it at each of its checks, with the identity of the database that it reads. */
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

  /** @throws an error with a journal-… code, key-store-outdated, Unavailable */
  async compare(): Promise<void> {
    const { database, replay, forget } = this.#options;
    const [connection, present] = [this.#connections, this.#present];
    try {
      const { erasures, holdOrders, restrictionOrders } = await replay();
      this.#isReplaced ||= erasures + holdOrders + restrictionOrders > 0;
    } catch (error) {
      if (hasCodeOfArea(error, "journal") || hasCode(error, "key-store-outdated"))
        database.report("behind", error.message);
      throw error;
    }
    if (this.#isReplaced) await forget();
    // If there was a new connection in the meantime, it may lead to another database, which is compared next.
    if (connection !== this.#connections) return;
    this.#compared = present;
    this.#isReplaced = false;
    database.resolve("behind");
  }

  /** Waits for the running comparison. */
  async close(): Promise<void> {
    await this.#running;
  }

  /** Reports an error only if it differs from the previous one, because each check repeats a failed comparison. */
  #report(error: unknown): void {
    const text = String(error);
    if (text !== this.#reported) this.#options.onError(error, "compare database with journal");
    this.#reported = text;
  }
}
