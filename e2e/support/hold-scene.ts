/** A system whose events expire after an hour, and functions that store events in the past and place holds on them. */
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { holdSecretName } from "../../packages/server/src/store/crypto/sealer.ts";
import { objects, PRIVACY, type Printed } from "./command.ts";
import { secretExists } from "./key-directory.ts";
import { type EventIn, Past, type PastEvent } from "./past-event.ts";
import { SystemScene } from "./system-scene.ts";
import { advanceClock } from "./test-clock.ts";

export const HOLD_OPTIONS = ["--reason", "dispute", "--approver", "J. Doe", "--review", "2999-01-31"];

/**
 * A system with holds. A test file creates the scene at its top; hooks of the scene open and close everything. After
 * each test, a hook lifts the active holds and runs a retention pass.
 */
export class HoldScene extends SystemScene {
  #past: Past | undefined;
  #accountCount = 0;
  /**
   * The age, in hours, of the events that `expired` stores. Each test uses a new age, because a dropped partition is
   * never created again.
   */
  hoursAgo = 46;

  constructor() {
    super((folder) => ({ DRS_ERASURE_JOURNAL: join(folder, "journal") }));
    beforeAll(async () => {
      await this.applyPeriod("PT1H");
      this.#past = new Past(this.system);
    });
    afterEach(async () => {
      this.hoursAgo--;
      for (const { hold_id, lifted_at } of await this.holds()) if (lifted_at === null) await this.lift(String(hold_id));
      await this.run();
    });
    afterAll(() => this.#past?.close());
  }

  /** Advances the clock of the database and of commands. */
  readonly advance = (milliseconds: number): Promise<void> => advanceClock(this.environment, milliseconds);

  readonly newAccount = (): string => `account-${this.#accountCount++}`;

  /** Stores an event as if it had been received this many hours ago. */
  readonly store = (hoursAgo: number, attributes: EventIn): Promise<PastEvent> => {
    if (this.#past === undefined) throw new Error("a hook opens the store");
    return this.#past.store(hoursAgo, attributes);
  };

  /** Stores an event that has expired, in a partition that the next pass drops. */
  readonly expired = (attributes: EventIn): Promise<PastEvent> => this.store(this.hoursAgo, attributes);

  /** @returns the id of the hold. */
  readonly hold = async (...subject: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await this.drs("hold", "add", ...subject, ...HOLD_OPTIONS, "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return String(objects(stdout)[0]?.["hold_id"]);
  };

  readonly lift = (id: string): Promise<Printed> => this.drs("hold", "lift", id, "--reason", "settled", "--yes");

  readonly holds = async (): Promise<Record<string, unknown>[]> =>
    objects((await this.drs("hold", "list", "--json")).stdout);

  /** Runs a retention pass. */
  readonly run = async (): Promise<Record<string, unknown>> => {
    const { code, stdout, stderr } = await this.drs("retention", "run", "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return objects(stdout)[0] ?? {};
  };

  /** Exact bytes of the event, or `undefined` if it can't be read. */
  readonly read = async ({ eventId }: PastEvent): Promise<string | undefined> => {
    const { code, stdout } = await this.drs("event", "get", eventId, "--raw", ...PRIVACY);
    return code === 0 ? stdout : undefined;
  };

  readonly listed = async (...filter: readonly string[]): Promise<unknown[]> => {
    const { stdout } = await this.drs("event", "list", ...PRIVACY, "--limit", "0", "--json", ...filter);
    return objects(stdout).map(({ event_id }) => event_id);
  };

  readonly rows = async (table: string): Promise<number> =>
    (await this.owner.query(`select from ${table}`)).rowCount ?? 0;

  readonly secretExists = (holdId: string): Promise<boolean> => secretExists(this.environment, holdSecretName(holdId));
}
