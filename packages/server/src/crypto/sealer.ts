import { createCipheriv, createDecipheriv, type KeyObject, randomFillSync } from "node:crypto";
import { OperatorError } from "../errors/operator-error.ts";
import { type Epoch, type EventIdentity, isSameEpoch, type Sealer, Unavailable } from "../ports.ts";
import { type Compressed, Compressor, decompress } from "./compression.ts";
import { DataKeys } from "./data-keys.ts";
import { deriveKey } from "./derive-key.ts";
import type { Secrets } from "./secrets.ts";

/** The secrets of a partition, by their ids. */
export interface PartitionSecrets {
  /** The id of the secret that its events are sealed under. */
  readonly secret: string;
  /** Whether the database says that the secret was created: if it is missing then, it is lost. */
  readonly wasCreated: boolean;
  /** Ids of earlier secrets whose loss was accepted. A key store that was restored since may have them again. */
  readonly lostSecrets: readonly string[];
  /** The time from which the partition takes no further events; milliseconds since the Unix epoch. */
  readonly end: number;
}

/** Finds the partition of a purpose and time. */
export interface PartitionRegistry {
  /** Finds the secrets of a partition, without a promise if they are known. @throws Unavailable */
  find(purpose: number, receivedAt: number): PartitionSecrets | Promise<PartitionSecrets>;
  /**
   * Reads the secrets of a partition from the database, and creates the partition if it is missing. @throws Unavailable
   */
  ensure(purpose: number, receivedAt: number): Promise<PartitionSecrets>;
  /** Records durably that the secret was created. @throws Unavailable */
  recordCreated(secret: string): Promise<void>;
}

/** Finds the ids of all secrets that a hold has had, the one in use last. @throws Unavailable */
export type FindHoldSecrets = (holdId: string) => Promise<readonly string[]>;

/** A sealer that keeps data keys in memory. */
export interface CachingSealer extends Sealer {
  /**
   * Drops keys from memory: the data keys of partitions that take no further events, long before their events expire,
   * and the secrets of all partitions. While this is called each second, a lost one seals the first events of accounts
   * no longer than that.
   */
  evictKeys(now: number): void;
}

/** Finds the key that the events of an account and purpose are sealed under. */
export interface AccountKeys {
  /** The present key, without a promise if it is known. @throws Unavailable */
  current(account: string, purpose: number): CurrentKey | Promise<CurrentKey>;
  /** Reads erasures and accepted losses after the current epoch. @throws Unavailable */
  refresh(): Promise<void>;
  /** The last erasure and the last accepted loss that the keys are known to have. */
  readonly epoch: Epoch;
  /** Number of times that it forgot all keys. */
  readonly generation: number;
  onErased(listener: (keyIds: readonly string[]) => void): void;
}

export interface CurrentKey {
  readonly keyId: string;
  readonly epoch: Epoch;
}

const keysDestroyed = (message: string, secrets: readonly string[]): OperatorError =>
  new OperatorError("keys-destroyed", message, { detail: { secrets } });

const secretMissing = (name: string): Unavailable =>
  new Unavailable(`the key store lacks the secret ${name}: restore it, or drs key accept-loss`);

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + NONCE_BYTES;

export const accountSecretName = (keyId: string): string => `account/${keyId}`;
/** @param secretId the id of the hold, unless its first secret was lost. */
export const holdSecretName = (secretId: string): string => `hold/${secretId}`;
/** @param secretId the id of the partition, unless its first secret was lost. */
export const partitionSecretName = (secretId: string): string => `partition/${secretId}`;

/**
 * Compresses, then encrypts: AES-256-GCM under the data key of (account, purpose, partition), with a random nonce, the
 * event's identity as associated data. A sealed payload is
 * `dictionary version (1) | nonce (12) | ciphertext | tag (16)`.
 *
 * @param requestMacKey derived from the installation's secret, not from an account's: a tombstone outlives those.
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
  const nonces = new Nonces();

  accountKeys.onErased((keyIds) => dataKeys.dropKeys(keyIds));
  let dataKeysOf = accountKeys.generation;

  /**
   * The data keys of this generation. A failover may have lost the record of a partition's secret together with the
   * secret, and another server may have created another secret under its name since.
   */
  function presentDataKeys(): DataKeys {
    // guard(false): after a failover data keys are derived again
    // fails: packages/server/src/crypto/sealer.test.ts › was lost together with its record
    if (dataKeysOf !== accountKeys.generation) {
      dataKeys.clear();
      secrets.forgetRecent();
    }
    dataKeysOf = accountKeys.generation;
    return dataKeys;
  }

  async function keyForWriting(
    identity: EventIdentity,
    partition: PartitionSecrets,
    generation: number,
  ): Promise<CurrentKey & { key: KeyObject }> {
    const { keyId, epoch } = await accountKeys.current(identity.account, identity.purpose);
    // The record of the secret may be missing after a failover: then the secret may be another one than before.
    const known = partition.wasCreated && presentDataKeys().find(partition.secret, keyId);
    if (known) return { keyId, epoch, key: known };
    const account = await secrets.find(accountSecretName(keyId));
    if (account) {
      const { id, secret } = await partitionSecret(identity, partition);
      const key = derive(account, secret);
      if (isSameEpoch(epoch, accountKeys.epoch) && generation === accountKeys.generation)
        presentDataKeys().remember(id, partition.end, keyId, key);
      return { keyId, epoch, key };
    }
    // The key was erased a moment ago, or its loss was accepted: then another key exists by now.
    await accountKeys.refresh();
    const next = await accountKeys.current(identity.account, identity.purpose);
    if (next.keyId !== keyId) return keyForWriting(identity, partition, generation);
    throw new Unavailable(`the key store lacks the secret ${accountSecretName(keyId)}: is it an older one?`);
  }

  /**
   * The secret in use of a partition, with its id. It is created once, and the database says so before anything is sealed
   * under it: a server that creates a lost secret again would hide the loss.
   */
  async function partitionSecret(
    identity: EventIdentity,
    { secret: id, wasCreated }: PartitionSecrets,
  ): Promise<{ id: string; secret: Buffer }> {
    const name = partitionSecretName(id);
    // The record may be missing after a failover: then another secret may have this name.
    let secret = await (wasCreated ? secrets.findRecent(name) : secrets.findForUse(name));
    if (!secret) {
      const present = await partitions.ensure(identity.purpose, identity.receivedAt);
      // The loss of the secret was accepted meanwhile.
      if (present.secret !== id) return partitionSecret(identity, present);
      // guard(false): a lost secret is not created again under its name
      // fails: packages/server/src/crypto/sealer.test.ts › the secret of a partition
      secret = await (present.wasCreated ? secrets.find(name) : secrets.findOrCreate(name));
      if (!secret) throw secretMissing(name);
    }
    if (!wasCreated) await partitions.recordCreated(id);
    return { id, secret };
  }

  /** Opens what is sealed under the account's secret and one of the partition's. */
  async function openEvent(identity: EventIdentity, keyId: string, payload: Buffer): Promise<Buffer> {
    const { secret, lostSecrets } = await partitions.find(identity.purpose, identity.receivedAt);
    const known = presentDataKeys().find(secret, keyId);
    if (known && lostSecrets.length === 0) return openWith(known, identity, payload);
    const accountName = accountSecretName(keyId);
    const account = await secrets.find(accountName);
    if (!account) throw keysDestroyed("the keys of this event were destroyed or lost", [accountName]);
    const names = [...lostSecrets, secret].map(partitionSecretName);
    return openWithOne(names, (one) => derive(account, one), identity, payload);
  }

  async function openCopy(identity: EventIdentity, holdId: string, payload: Buffer): Promise<Buffer> {
    if (payload.length === 0) throw keysDestroyed("the keys of this event were lost before a hold copied it", []);
    return openWithOne((await findHoldSecrets(holdId)).map(holdSecretName), holdKey, identity, payload);
  }

  /**
   * Opens with whichever secret fits. A payload that none fits was changed; but where there were others, it may have been
   * sealed under one that is lost.
   * @param names of secrets, the one in use last.
   */
  async function openWithOne(
    names: readonly string[],
    keyOf: (secret: Buffer) => KeyObject,
    identity: EventIdentity,
    payload: Buffer,
  ): Promise<Buffer> {
    const lost = new Set(names.slice(0, -1));
    let broken: unknown;
    for (const name of names.toReversed()) {
      const secret = await secrets.find(name);
      if (!secret) {
        lost.add(name);
        continue;
      }
      try {
        return openWith(keyOf(secret), identity, payload);
      } catch (error) {
        broken = error;
      }
    }
    if (lost.size > 0) throw keysDestroyed("the keys of this event were destroyed or lost", [...lost]);
    throw broken;
  }

  function encrypt(key: KeyObject, identity: EventIdentity, { dictionary, bytes }: Compressed): Buffer {
    const sealed = Buffer.allocUnsafe(HEAD_BYTES + bytes.length + TAG_BYTES);
    sealed[0] = dictionary;
    const nonce = nonces.next();
    nonce.copy(sealed, 1);
    const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(associatedData(identity, dictionary));
    cipher.update(bytes).copy(sealed, HEAD_BYTES);
    cipher.final();
    cipher.getAuthTag().copy(sealed, HEAD_BYTES + bytes.length);
    return sealed;
  }

  return {
    requestMac(eventId, bytes) {
      const gmac = createCipheriv("aes-256-gcm", requestMacKey, nonceOf(eventId)).setAAD(bytes);
      gmac.final();
      return gmac.getAuthTag();
    },

    async seal(identity, bytes) {
      // The generation is read before all else: what is found later is of this generation or a later one.
      const { generation } = accountKeys;
      const partition = await partitions.find(identity.purpose, identity.receivedAt);
      const [{ keyId, epoch, key }, compressed] = await Promise.all([
        keyForWriting(identity, partition, generation),
        compressor.compress(bytes),
      ]);
      return { payload: encrypt(key, identity, compressed), keyId, epoch, generation };
    },

    async sealCopy(identity, holdId, bytes) {
      const name = holdSecretName((await findHoldSecrets(holdId)).at(-1) ?? holdId);
      const secret = await secrets.findForUse(name);
      // guard(false): a lost secret of a hold is not created again under its name
      // fails: packages/server/src/lifecycle/recovery/lost-secrets.test.ts › no copy is made under a lost secret
      if (!secret) throw secretMissing(name);
      return encrypt(holdKey(secret), identity, await compressor.compress(bytes));
    },

    open: (identity, under, payload) =>
      "holdId" in under ? openCopy(identity, under.holdId, payload) : openEvent(identity, under.keyId, payload),

    evictKeys(now) {
      dataKeys.forgetEnded(now);
      secrets.forgetRecent();
    },
  };
}

function derive(accountSecret: Buffer, partitionSecret: Buffer): KeyObject {
  return deriveKey(Buffer.concat([accountSecret, partitionSecret]), "event");
}

const holdKey = (secret: Buffer): KeyObject => deriveKey(secret, "hold");

function associatedData(identity: EventIdentity, dictionary: number): Buffer {
  return Buffer.from(JSON.stringify([dictionary, identity.account, identity.eventId, identity.schemaVersion]));
}

/** Random nonces, drawn from the system some hundreds at a time. */
class Nonces {
  readonly #pool = Buffer.alloc(NONCE_BYTES * 512);
  #used = this.#pool.length;

  next(): Buffer {
    if (this.#used === this.#pool.length) {
      randomFillSync(this.#pool);
      this.#used = 0;
    }
    this.#used += NONCE_BYTES;
    return this.#pool.subarray(this.#used - NONCE_BYTES, this.#used);
  }
}

/** AES-GMAC (NIST SP 800-38D) wants a nonce of its own for each message: the last 96 bits of the event's id are one. */
function nonceOf(eventId: string): Buffer {
  return Buffer.from(eventId.replaceAll("-", "").slice(-2 * NONCE_BYTES), "hex");
}

function openWith(key: KeyObject, identity: EventIdentity, sealed: Buffer): Buffer {
  const [dictionary = 0] = sealed;
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(1, HEAD_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(associatedData(identity, dictionary)).setAuthTag(sealed.subarray(-TAG_BYTES));
    const bytes = Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES, -TAG_BYTES)), decipher.final()]);
    return decompress({ dictionary, bytes });
  } catch (cause) {
    throw new OperatorError("payload-damaged", "the stored payload is not what was sealed for this event", { cause });
  }
}
