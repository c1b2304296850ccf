import { createHash, randomBytes } from "node:crypto";
import { InFlight } from "../../base/caches/in-flight.ts";
import { LimitedMap } from "../../base/caches/limited-map.ts";
import type { KeyEncryption } from "./key-encryption.ts";
import type { KeyStore } from "./key-store.ts";

const SECRET_BYTES = 32;
/** Maximum number of names in `used`. Beyond it, the name that was used least recently is dropped. */
const MAX_USED = 1_000;
/** Maximum number of secrets that `findRecent` and `findDurable` keep in memory. */
const MAX_RECENT = 100;
/** Secrets of a batch stay in memory for the next batches, up to this number and for this time. */
const MAX_BATCH_SECRETS = 2_000;
const BATCH_SECRETS_MS = 1_000;

/** The id of a secret in a key store: SHA-256 of its name, in hexadecimal. A listing of ids reveals no name. */
export const secretId = (name: string): string => createHash("sha256").update(name).digest("hex");

/** Named random secrets in a key store, each wrapped by a key-encryption key and bound to its id. */
export class Secrets {
  readonly #store: KeyStore;
  readonly #keys: KeyEncryption;
  readonly #making = new InFlight<Buffer>();

  readonly #used = new Set<string>();
  readonly #recent = new LimitedMap<Promise<Buffer | undefined>>(MAX_RECENT);
  readonly #ofBatches = new Map<string, Buffer>();
  #batchesSince = 0;
  /** The number of times that secrets were forgotten or destroyed. */
  #forgetCount = 0;

  constructor(store: KeyStore, keys: KeyEncryption) {
    this.#store = store;
    this.#keys = keys;
  }

  async find(name: string): Promise<Buffer | undefined> {
    const id = secretId(name);
    const wrapped = await this.#store.read(id);
    return wrapped && this.#unwrap(id, wrapped);
  }

  /** Finds secrets by their names in order to open events, not to seal. Absent secrets are left out. */
  async findToOpen(names: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const ids = new Map(names.map((name) => [name, secretId(name)]));
    const wrapped = await this.#store.readToOpen([...ids.values()]);
    const found = new Map<string, Buffer>();
    for (const [name, id] of ids) {
      const one = wrapped.get(id);
      if (one) found.set(name, await this.#unwrap(id, one));
    }
    return found;
  }

  /**
   * Finds secrets as `findToOpen` does, and keeps them for the batches of the next second. A secret that another
   * process destroys is used no longer than that.
   */
  async findForBatch(names: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const isOld = performance.now() - this.#batchesSince > BATCH_SECRETS_MS;
    // guard(false): a destroyed secret is forgotten within a second
    if (isOld || this.#ofBatches.size > MAX_BATCH_SECRETS) {
      this.#ofBatches.clear();
      this.#batchesSince = performance.now();
    }
    const known = names.flatMap((name) => {
      const secret = this.#ofBatches.get(name);
      return secret ? [[name, secret] as const] : [];
    });
    if (known.length === names.length) return new Map(known);
    const countBefore = this.#forgetCount;
    const read = await this.findToOpen(names.filter((name) => !this.#ofBatches.has(name)));
    // guard(true): a secret that was destroyed during the read is not remembered
    if (countBefore === this.#forgetCount) for (const [name, secret] of read) this.#ofBatches.set(name, secret);
    return new Map([...known, ...read]);
  }

  /** Finds the secret for sealing, and adds its name to `used` even if the secret is missing. */
  findForUse(name: string): Promise<Buffer | undefined> {
    this.#remember(name);
    return this.find(name);
  }

  /**
   * Finds a secret in memory if it was read since `forgetRecent`, and otherwise as `findForUse` does. A missing secret
   * is searched for each time.
   */
  findRecent(name: string): Promise<Buffer | undefined> {
    return this.#findRecent(name, () => this.find(name));
  }

  /**
   * Finds a secret as `findRecent` does, for a caller that has its name from a row that was committed after the secret
   * was durable. It does not wait until the key store has synced the secret.
   */
  findDurable(name: string): Promise<Buffer | undefined> {
    return this.#findRecent(name, async () => (await this.findToOpen([name])).get(name));
  }

  #findRecent(name: string, read: () => Promise<Buffer | undefined>): Promise<Buffer | undefined> {
    this.#remember(name);
    const recent = this.#recent.get(name);
    if (recent) return recent;
    const reading = read();
    const forget = (): void => {
      if (this.#recent.get(name) === reading) this.#recent.delete(name);
    };
    this.#recent.set(name, reading);
    reading.then((secret) => secret ?? forget(), forget);
    return reading;
  }

  forgetRecent(): void {
    this.#forgetCount++;
    this.#recent.clear();
    this.#ofBatches.clear();
  }

  /**
   * Finds or creates a secret. The secret is durable before it is returned. If two callers create it, the second one
   * gets the secret of the first.
   */
  findOrCreate(name: string): Promise<Buffer> {
    return this.#making.join(name, async () => {
      const secret = await this.#findOrCreate(name);
      this.#remember(name);
      return secret;
    });
  }

  /** Creates the secret of a name that is new, such as a random one. The secret is durable before it is returned. */
  async create(name: string): Promise<Buffer> {
    const secret = await this.#create(name);
    this.#remember(name);
    return secret;
  }

  /** Names of the secrets that were most recently searched for, or created, in order to seal. */
  get used(): readonly string[] {
    return [...this.#used];
  }

  /** Finds the names that have no secret. */
  async findMissing(names: readonly string[]): Promise<readonly string[]> {
    const lacking = new Set(await this.#store.findMissing(names.map(secretId)));
    return names.filter((name) => lacking.has(secretId(name)));
  }

  /** Finds the names whose secrets were destroyed on purpose. */
  async findDestroyed(names: readonly string[]): Promise<readonly string[]> {
    const destroyed = new Set(await this.#store.findDestroyed(names.map(secretId)));
    return names.filter((name) => destroyed.has(secretId(name)));
  }

  /** Finds the names whose secret is missing although it was not destroyed on purpose. */
  async findLost(names: readonly string[]): Promise<readonly string[]> {
    const missing = await this.findMissing(names);
    // Destruction records are read after the secrets, so that a secret which is destroyed in the meantime is not lost.
    // guard(false): a secret that was destroyed on purpose is not lost
    const destroyed = new Set(missing.length > 0 ? await this.findDestroyed(missing) : []);
    return missing.filter((name) => !destroyed.has(name));
  }

  /**
   * Destroys a secret on purpose, and records the destruction. Backups of the key store can still open the secret's
   * data until they are deleted.
   */
  destroy(name: string): Promise<void> {
    this.#forget(name);
    return this.#store.destroy(secretId(name));
  }

  /** Deletes a secret under which nothing was sealed. */
  discard(name: string): Promise<void> {
    this.#forget(name);
    return this.#store.discard(secretId(name));
  }

  #forget(name: string): void {
    this.#forgetCount++;
    this.#recent.delete(name);
    this.#ofBatches.delete(name);
  }

  #remember(name: string): void {
    this.#used.delete(name);
    this.#used.add(name);
    const [oldest = ""] = this.#used;
    if (this.#used.size > MAX_USED) this.#used.delete(oldest);
  }

  async #findOrCreate(name: string): Promise<Buffer> {
    return (await this.find(name)) ?? this.#create(name);
  }

  async #create(name: string): Promise<Buffer> {
    const id = secretId(name);
    const context = Buffer.from(id, "hex");
    const secret = randomBytes(SECRET_BYTES);
    let wrapped = await this.#keys.wrap(secret, context);
    const stored = await this.#store.create(id, wrapped);
    if (!stored.equals(wrapped)) return this.#unwrap(id, stored);
    // The version may have been destroyed during the write, because no secret seemed to be wrapped under it.
    while (!(await this.#keys.versions()).includes(this.#keys.versionOf(wrapped))) {
      const rewrapped = await this.#keys.wrap(secret, context);
      const replaced = await this.#store.replace([{ id, existing: wrapped, wrapped: rewrapped }]);
      if (replaced === 0) return this.#findOrCreate(name);
      wrapped = rewrapped;
    }
    return secret;
  }

  #unwrap(id: string, wrapped: Buffer): Promise<Buffer> {
    return this.#keys.unwrap(wrapped, Buffer.from(id, "hex"));
  }
}
