import { randomUUID } from "node:crypto";
import type { QueryResult } from "pg";
import type { AccountKeys, CurrentKey } from "../crypto/sealer.ts";
import type { Pseudonymizer } from "../crypto/pseudonymizer.ts";
import type { Secrets } from "../crypto/secrets.ts";
import { accountSecretName } from "../crypto/sealer.ts";
import { InFlight } from "../../base/caches/in-flight.ts";
import { LimitedMap } from "../../base/caches/limited-map.ts";
import { type Accounts, isSameKeyEpoch, type KeyEpoch, Unavailable } from "../../base/ports.ts";
import { byteaArray, int4Array, textArray, uuidArray } from "../postgres/binary-array.ts";
import { asUnavailable } from "../postgres/errors.ts";
import type { Executor } from "../postgres/executor.ts";
import { MicroBatcher } from "../postgres/micro-batcher.ts";
import { type ParametersOf, query, sql, type Statement } from "../postgres/statement.ts";

/** Maximum number of key ids in memory; beyond it, the oldest is dropped. */
const MAX_KNOWN = 50_000;

/** Maximum number of keys that one statement looks up. */
const MAX_LOOK_UPS = 256;
/** Maximum number of keys that one statement ensures. */
const MAX_NEW_KEYS = 64;
/** The time in milliseconds for which the statement of several new accounts waits for a lock of one of them. */
const MAX_WAIT_MS = 200;
const NO_LIMIT = 0;

const NOTHING_KNOWN: KeyEpoch = { erasure: 0, loss: 0 };

const LATEST_LOSS = sql("select coalesce(max(loss_id), 0) as loss from secret_loss", [], { loss: "int8" });
const LIST_ERASURES = sql(
  "select sequence, keys::text[] from erasure where sequence > $1 order by sequence",
  ["int8"],
  {
    sequence: "int8",
    keys: "text[]",
  },
);
const LIST_REFUSED = sql("select encode(account_mac, 'hex') as mac from refused_account", [], { mac: "text" });
/** The subquery makes the plan read each key by its index, as a join may not. */
const FIND_KEYS = sql(
  `select (select key_id from account_key k
        where k.account = asked.account and k.purpose = asked.purpose and k.erased_by is null and k.lost_by is null) as key_id
      from unnest($1::text[], $2::int4[]) with ordinality as asked (account, purpose, place)
      order by asked.place`,
  ["text[]", "int4[]"],
  { key_id: "uuid?" },
);
const ENSURE_ACCOUNT_KEYS = sql(
  "select ensure_account_keys($1, $2, $3, $4, $5) as key_id",
  ["text[]", "bytea[]", "int4[]", "uuid[]", "int4"],
  { key_id: "uuid?" },
);

/**
 * Finds the key under which the events of an account and purpose are sealed. A key is returned with a key epoch, and is
 * valid for this epoch: the time between two changes of keys, which are erasures and accepted losses of secrets.
 */
export class PostgresAccountKeys implements AccountKeys, Accounts {
  readonly #executor: Executor;
  readonly #secrets: Secrets;
  readonly #pseudonymizer: Pseudonymizer;
  /** `undefined` if the account had no key at the last look-up. Another server may have created one since then. */
  readonly #known = new LimitedMap<string | undefined>(MAX_KNOWN);
  #calls = this.#newCalls();
  #refused: ReadonlySet<string> = new Set();
  #keyEpoch = NOTHING_KNOWN;
  #generation = 0;
  #erasedKeys: (keyIds: readonly string[]) => void = () => {};
  #lostSecrets: () => void = () => {};
  #refreshing: Promise<void> | undefined;

  constructor(executor: Executor, secrets: Secrets, pseudonymizer: Pseudonymizer) {
    this.#executor = executor;
    this.#secrets = secrets;
    this.#pseudonymizer = pseudonymizer;
  }

  get keyEpoch(): KeyEpoch {
    return this.#keyEpoch;
  }

  get generation(): number {
    return this.#generation;
  }

  /**
   * Forgets all keys, because a failover may have led to another database, or to one that lost its latest transactions.
   */
  clear(): void {
    this.#known.clear();
    this.#calls = this.#newCalls();
    this.#generation++;
  }

  /**
   * Reads all erasures and accepted losses again, also those before the last number that the server knows, because a
   * database that lost some of them may have given their numbers to others in a replay. @throws Unavailable
   */
  async refreshAll(): Promise<void> {
    while (this.#refreshing) await this.#refreshing.catch(() => {});
    this.#keyEpoch = NOTHING_KNOWN;
    await this.refresh();
  }

  /** Sets the listener that receives the ids of erased keys, to drop what it derived from them. */
  onErased(listener: (keyIds: readonly string[]) => void): void {
    this.#erasedKeys = listener;
  }

  /**
   * Sets the listener that is called after a loss of secrets was accepted. After it, names of secrets that the listener
   * remembers may be out of date.
   */
  onSecretsLost(listener: () => void): void {
    this.#lostSecrets = listener;
  }

  current(account: string, purpose: number): CurrentKey | Promise<CurrentKey> {
    const name = cacheKeyOf(account, purpose);
    const keyId = this.#known.get(name);
    if (keyId !== undefined) return { keyId, keyEpoch: this.keyEpoch };
    return this.#calls.creating.join(name, () => this.#findOrCreate(name, account, purpose));
  }

  existing(account: string, purpose: number): CurrentKey | undefined | Promise<CurrentKey | undefined> {
    const name = cacheKeyOf(account, purpose);
    const keyId = this.#known.get(name);
    if (keyId !== undefined) return { keyId, keyEpoch: this.keyEpoch };
    return this.#find(name, account, purpose).then(({ keyId: found, keyEpoch }) =>
      found === undefined ? undefined : { keyId: found, keyEpoch },
    );
  }

  /** Whether the account has a key under the purpose. @throws Unavailable */
  isKnown(account: string, purpose: number): boolean | Promise<boolean> {
    const name = cacheKeyOf(account, purpose);
    if (this.#known.has(name)) return this.#known.get(name) !== undefined;
    return this.#find(name, account, purpose).then(({ keyId }) => keyId !== undefined);
  }

  /** Whether the erasure of the account also rejects later events of the account. */
  isRefused(account: string): boolean {
    return (
      this.#refused.size > 0 && this.#refused.has(this.#pseudonymizer.subjectOf("account", account).toString("hex"))
    );
  }

  /** Reads new erasures and accepted losses. Forgets the erased keys; after a loss, all keys. @throws Unavailable */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined));
    return this.#refreshing;
  }

  async #refresh(): Promise<void> {
    await this.#refreshErasures();
    const { rows } = await this.#query(LATEST_LOSS);
    const loss = rows[0]?.loss ?? 0;
    if (loss === this.#keyEpoch.loss) return;
    this.#keyEpoch = { ...this.#keyEpoch, loss };
    this.clear();
    this.#lostSecrets();
  }

  async #refreshErasures(): Promise<void> {
    const { rows } = await this.#query(LIST_ERASURES, [this.#keyEpoch.erasure]);
    const last = rows.at(-1);
    if (!last) return;
    const refused = await this.#query(LIST_REFUSED);
    this.#refused = new Set(refused.rows.map(({ mac }) => mac));
    const erased = new Set(rows.flatMap(({ keys }) => keys));
    for (const [name, keyId] of this.#known) if (keyId !== undefined && erased.has(keyId)) this.#known.delete(name);
    this.#keyEpoch = { ...this.#keyEpoch, erasure: last.sequence };
    this.#erasedKeys([...erased]);
  }

  #find(name: string, account: string, purpose: number): Promise<Found> {
    return this.#calls.finding.join(name, () =>
      this.#remember(name, async () => ({ keyId: await this.#calls.lookUps.add({ account, purpose }) })),
    );
  }

  async #findOrCreate(name: string, account: string, purpose: number): Promise<CurrentKey> {
    if (!this.#known.has(name)) {
      const { keyId, keyEpoch } = await this.#find(name, account, purpose);
      if (keyId !== undefined) return { keyId, keyEpoch };
    }
    return this.#remember(name, () => this.#create(account, purpose));
  }

  /** Remembers the id of the key, unless keys changed meanwhile. */
  async #remember<Key extends { readonly keyId: string | undefined }>(
    name: string,
    find: () => Promise<Key>,
  ): Promise<Key & { readonly keyEpoch: KeyEpoch }> {
    const { keyEpoch, generation } = this;
    const key = await find();
    if (isSameKeyEpoch(keyEpoch, this.keyEpoch) && generation === this.generation) this.#known.set(name, key.keyId);
    return { ...key, keyEpoch };
  }

  /** The calls that run or wait, which no call after a failover may join. */
  #newCalls() {
    return {
      finding: new InFlight<Found>(),
      creating: new InFlight<CurrentKey>(),
      lookUps: new MicroBatcher<KeyOwner, string | undefined>({
        work: (owners) => this.#findAll(owners),
        maxItems: MAX_LOOK_UPS,
        parallelBatches: 2,
      }),
      ensuring: new MicroBatcher<NewKey, Ensured | undefined>({
        work: (keys) => this.#ensureTogether(keys),
        maxItems: MAX_NEW_KEYS,
        parallelBatches: 2,
      }),
    };
  }

  async #findAll(owners: readonly KeyOwner[]): Promise<readonly (string | undefined)[]> {
    const { rows } = await this.#query(FIND_KEYS, [
      textArray(owners.map(({ account }) => account)),
      int4Array(owners.map(({ purpose }) => purpose)),
    ]);
    return rows.map(({ key_id }) => key_id ?? undefined);
  }

  /**
   * The secret is durable before the database has its id. Therefore an id without a secret means that the secret was
   * destroyed or lost.
   */
  async #create(account: string, purpose: number): Promise<{ readonly keyId: string; readonly secret?: Buffer }> {
    const mine = { account, purpose, keyId: randomUUID() };
    const name = accountSecretName(mine.keyId);
    const secret = await this.#secrets.create(name);
    // If a key can't be ensured, or not soon, the others don't fail and don't wait: each is ensured apart.
    const together = await this.#calls.ensuring.add(mine);
    const { keyId } = together ?? (await this.#ensure([mine], NO_LIMIT))[0] ?? {};
    if (keyId === undefined) throw new Unavailable("an erasure of the account came in between");
    if (keyId === mine.keyId) return { keyId, secret };
    await this.#secrets.discard(name);
    return { keyId };
  }

  /** @returns `undefined` for each key if they can't be ensured together. */
  #ensureTogether(keys: readonly NewKey[]): Promise<readonly (Ensured | undefined)[]> {
    return this.#ensure(keys, MAX_WAIT_MS).catch((error: unknown) => {
      if (error instanceof Unavailable) throw error;
      return keys.map(() => undefined);
    });
  }

  async #ensure(keys: readonly NewKey[], waitMs: number): Promise<readonly Ensured[]> {
    const { rows } = await this.#query(ENSURE_ACCOUNT_KEYS, [
      textArray(keys.map(({ account }) => account)),
      byteaArray(keys.map(({ account }) => this.#pseudonymizer.restrictedAccountOf(account))),
      int4Array(keys.map(({ purpose }) => purpose)),
      uuidArray(keys.map(({ keyId }) => keyId)),
      waitMs,
    ]);
    return rows.map(({ key_id }) => ({ keyId: key_id ?? undefined }));
  }

  #query<Values extends readonly unknown[], Row>(
    statement: Statement<Values, Row>,
    ...values: ParametersOf<Values>
  ): Promise<QueryResult<Row & object>> {
    return query(this.#executor, statement, ...values).catch((error: unknown) => {
      throw asUnavailable(error);
    });
  }
}

interface KeyOwner {
  readonly account: string;
  readonly purpose: number;
}

interface NewKey extends KeyOwner {
  readonly keyId: string;
}

interface Ensured {
  /** `undefined` if an erasure came in between. */
  readonly keyId: string | undefined;
}

interface Found {
  readonly keyId: string | undefined;
  readonly keyEpoch: KeyEpoch;
}

const cacheKeyOf = (account: string, purpose: number): string => `${purpose}/${account}`;
