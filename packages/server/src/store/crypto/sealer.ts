import { createCipheriv, type KeyObject } from "node:crypto";
import {
  type EventIdentity,
  isSameKeyEpoch,
  type KeyEpoch,
  type Sealed,
  type SealedEvent,
  type Sealer,
  Unavailable,
} from "../../base/ports.ts";
import { decrypt, encrypt, NONCE_BYTES } from "./authenticated-encryption.ts";
import { type Compressed, Compressor, decompress } from "./compression.ts";
import { DataKeys } from "./data-keys.ts";
import { deriveKey } from "./derive-key.ts";
import { orUnreadable } from "./open-if-readable.ts";
import {
  keysDestroyed,
  openWithOne,
  partitionSecretName,
  type PartitionRegistry,
  type PartitionSecrets,
  secretForWriting,
  secretMissing,
  sourceOf,
} from "./partition-secrets.ts";
import type { Secrets } from "./secrets.ts";

/** Finds the ids of all secrets that a hold has had, with the current one last. @throws Unavailable */
export type FindHoldSecrets = (holdId: string) => Promise<readonly string[]>;

/** A sealer that keeps data keys in memory. */
export interface CachingSealer extends Sealer {
  /**
   * Drops from memory all secrets, and the data keys of partitions that receive no more events, even if the stored
   * events have not expired. If this is called every second, the secret of a partition is used for new data keys for at
   * most a second after the key store has lost it.
   */
  evictKeys(now: number): void;
}

/** Finds the key under which the events of an account and purpose are sealed. */
export interface AccountKeys {
  /** The current key, without a promise if it is known. @throws Unavailable */
  current(account: string, purpose: number): CurrentKey | Promise<CurrentKey>;
  /** The current key; `undefined` if there is none. This call creates no key. @throws Unavailable */
  existing(account: string, purpose: number): CurrentKey | undefined | Promise<CurrentKey | undefined>;
  /** Reads erasures and accepted losses that came after the known key epoch. @throws Unavailable */
  refresh(): Promise<void>;
  /** The last erasure and the last accepted loss that the keys take into account. */
  readonly keyEpoch: KeyEpoch;
  /** The number of times that all keys were forgotten. */
  readonly generation: number;
  onErased(listener: (keyIds: readonly string[]) => void): void;
}

export interface CurrentKey {
  readonly keyId: string;
  readonly keyEpoch: KeyEpoch;
  /** The secret of a key that was created now. The secret is durable. */
  readonly secret?: Buffer;
}

type FindKey<Found> = (identity: EventIdentity) => Found | Promise<Found>;

export const accountSecretName = (keyId: string): string => `account/${keyId}`;
/** @param secretId the id of the hold, unless its first secret was lost. */
export const holdSecretName = (secretId: string): string => `hold/${secretId}`;

/**
 * Creates a sealer, which compresses an event and then encrypts it by AES-256-GCM under the data key of (account,
 * purpose, partition), with a random nonce and with the event's identity as associated data. A sealed payload is
 * `dictionary version (1) | nonce (12) | ciphertext | tag (16)`.
 *
 * @param requestMacKey a key that is derived from the installation secret and not from an account's secret, because a
 * tombstone outlives the account's secret.
 */
export function createSealer(
  secrets: Secrets,
  accountKeys: AccountKeys,
  partitions: PartitionRegistry,
  findHoldSecrets: FindHoldSecrets,
  requestMacKey: KeyObject,
): CachingSealer {
  const dataKeys = new DataKeys();
  const compressor = new Compressor();

  accountKeys.onErased((keyIds) => dataKeys.dropKeys(keyIds));
  let generationOfDataKeys = accountKeys.generation;

  /**
   * Returns the data keys of this generation, and drops those of an earlier one: a failover may have lost a partition's
   * secret together with its record, and another server may have created another secret under the same name since then.
   */
  function currentDataKeys(): DataKeys {
    // guard(false): after a failover data keys are derived again
    if (generationOfDataKeys !== accountKeys.generation) {
      dataKeys.clear();
      secrets.forgetRecent();
    }
    generationOfDataKeys = accountKeys.generation;
    return dataKeys;
  }

  /** @returns `undefined` if `find` finds no key of the account. */
  async function keyForWriting<Found extends CurrentKey | undefined>(
    find: FindKey<Found>,
    identity: EventIdentity,
    partition: PartitionSecrets,
    generation: number,
  ): Promise<(CurrentKey & { key: KeyObject }) | Extract<Found, undefined>> {
    const present = await find(identity);
    if (!present) return present as Extract<Found, undefined>;
    const { keyId, keyEpoch } = present;
    // After a failover the record of the secret may be missing. Then another secret may have replaced the one in
    // memory.
    const known = partition.wasCreated && currentDataKeys().find(partition.secret, keyId);
    if (known) return { keyId, keyEpoch, key: known };
    const account = present.secret ?? (await secrets.find(accountSecretName(keyId)));
    if (account) {
      const { id, secret } = await secretForWriting(secrets, partitions, identity, partition);
      const key = deriveDataKey(account, secret);
      if (isSameKeyEpoch(keyEpoch, accountKeys.keyEpoch) && generation === accountKeys.generation)
        currentDataKeys().remember(id, partition.end, keyId, key);
      return { keyId, keyEpoch, key };
    }
    // If the key was just erased, or if its loss was just accepted, `find` now finds another key or none.
    await accountKeys.refresh();
    const next = await find(identity);
    if (next?.keyId !== keyId) return keyForWriting(find, identity, partition, generation);
    throw new Unavailable(
      `the key store lacks the secret ${accountSecretName(keyId)}: is the key store an older copy?`,
    );
  }

  /** Chooses the key of an event, or the secrets from which it is derived. */
  async function keyToOpen(identity: EventIdentity, keyId: string): Promise<KeyObject | SecretNames> {
    const { secret, lostSecrets } = await partitions.find(identity.purpose, identity.receivedAt);
    const known = currentDataKeys().find(secret, keyId);
    if (known && lostSecrets.length === 0) return known;
    return { account: accountSecretName(keyId), partition: [...lostSecrets, secret].map(partitionSecretName) };
  }

  /** Opens a payload that is sealed under the account's secret and one of the partition's secrets. */
  async function openEvent(identity: EventIdentity, keyId: string, payload: Buffer): Promise<Buffer> {
    const key = await keyToOpen(identity, keyId);
    const found = isNames(key) ? await secrets.findToOpen([key.account, ...key.partition]) : NOTHING_FOUND;
    return openFound(identity, payload, key, found);
  }

  async function openFound(
    identity: EventIdentity,
    payload: Buffer,
    key: KeyObject | SecretNames,
    found: ReadonlyMap<string, Buffer>,
  ): Promise<Buffer> {
    if (!isNames(key)) return openWith(key, identity, payload);
    const account = found.get(key.account);
    if (!account) throw keysDestroyed("the keys of this event were destroyed or lost", [key.account]);
    const source = sourceOf(found);
    return openWithOne(source, key.partition, (one) => openWith(deriveDataKey(account, one), identity, payload));
  }

  async function openMany(events: readonly SealedEvent[]): Promise<readonly (Buffer | undefined)[]> {
    const keys = await Promise.all(
      events.map(async (event) => {
        return "keyId" in event.sealedUnder ? keyToOpen(event, event.sealedUnder.keyId) : event.sealedUnder;
      }),
    );
    const names = keys.flatMap((key) => ("account" in key ? [key.account, ...key.partition] : []));
    const found = await secrets.findForBatch([...new Set(names)]);
    const opened = events.map(async (event, index) => {
      const key = keys[index] as (typeof keys)[number];
      return "holdId" in key ? openCopy(event, key.holdId, event.payload) : openFound(event, event.payload, key, found);
    });
    return Promise.all(opened.map((one) => one.catch(orUnreadable)));
  }

  async function openCopy(identity: EventIdentity, holdId: string, payload: Buffer): Promise<Buffer> {
    if (payload.length === 0) throw keysDestroyed("the keys of this event were lost before a hold copied it", []);
    const names = (await findHoldSecrets(holdId)).map(holdSecretName);
    return openWithOne(secrets, names, (one) => openWith(holdKey(one), identity, payload));
  }

  const currentKey: FindKey<CurrentKey> = ({ account, purpose }) => accountKeys.current(account, purpose);
  const existingKey: FindKey<CurrentKey | undefined> = ({ account, purpose }) => accountKeys.existing(account, purpose);

  async function sealUnder<Found extends CurrentKey | undefined>(
    find: FindKey<Found>,
    identity: EventIdentity,
    bytes: Uint8Array,
  ): Promise<Sealed | Extract<Found, undefined>> {
    // The generation is read first, so that everything found later belongs to this generation or a later one.
    const { generation } = accountKeys;
    const partition = await partitions.find(identity.purpose, identity.receivedAt);
    const [found, compressed] = await Promise.all([
      keyForWriting(find, identity, partition, generation),
      compressor.compress(bytes),
    ]);
    if (!found) return found;
    const { keyId, keyEpoch, key } = found;
    return { payload: sealWith(key, identity, compressed), keyId, keyEpoch, generation };
  }

  return {
    requestMac(eventId, bytes) {
      const gmac = createCipheriv("aes-256-gcm", requestMacKey, nonceOf(eventId)).setAAD(bytes);
      gmac.final();
      return gmac.getAuthTag();
    },

    seal: (identity, bytes) => sealUnder(currentKey, identity, bytes),

    sealUnderExistingKey: (identity, bytes) => sealUnder(existingKey, identity, bytes),

    async sealCopy(identity, holdId, bytes) {
      const name = holdSecretName((await findHoldSecrets(holdId)).at(-1) ?? holdId);
      const secret = await secrets.findForUse(name);
      // guard(false): a lost secret of a hold is not created again under its name
      if (!secret) throw secretMissing(name);
      return sealWith(holdKey(secret), identity, await compressor.compress(bytes));
    },

    openMany,

    open: (identity, under, payload) =>
      "holdId" in under ? openCopy(identity, under.holdId, payload) : openEvent(identity, under.keyId, payload),

    evictKeys(now) {
      dataKeys.forgetEnded(now);
      secrets.forgetRecent();
    },
  };
}

/** The name of an account's secret, and the names of a partition's secrets, one of which opens the payload. */
interface SecretNames {
  readonly account: string;
  readonly partition: readonly string[];
}

const isNames = (key: KeyObject | SecretNames): key is SecretNames => "account" in key;

const NOTHING_FOUND: ReadonlyMap<string, Buffer> = new Map();

function deriveDataKey(accountSecret: Buffer, partitionSecret: Buffer): KeyObject {
  return deriveKey(Buffer.concat([accountSecret, partitionSecret]), "event");
}

const holdKey = (secret: Buffer): KeyObject => deriveKey(secret, "hold");

function associatedData(identity: EventIdentity, dictionary: number): Buffer {
  return Buffer.from(JSON.stringify([dictionary, identity.account, identity.eventId, identity.schemaVersion]));
}

/**
 * The nonce for AES-GMAC (NIST SP 800-38D), which needs a different nonce for each message: the last 96 bits of the
 * event's id.
 */
function nonceOf(eventId: string): Buffer {
  return Buffer.from(eventId.replaceAll("-", "").slice(-2 * NONCE_BYTES), "hex");
}

const sealWith = (key: KeyObject, identity: EventIdentity, { dictionary, bytes }: Compressed): Buffer =>
  encrypt(key, dictionary, associatedData(identity, dictionary), bytes);

const openWith = (key: KeyObject, identity: EventIdentity, sealed: Buffer): Buffer =>
  decrypt(
    key,
    (dictionary) => associatedData(identity, dictionary),
    sealed,
    (dictionary, bytes) => decompress({ dictionary, bytes }),
  );
