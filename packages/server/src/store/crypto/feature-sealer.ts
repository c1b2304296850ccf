import type { KeyObject } from "node:crypto";
import { decrypt, encrypt } from "./authenticated-encryption.ts";
import { DataKeys } from "./data-keys.ts";
import { deriveKey } from "./derive-key.ts";
import { orUnreadable } from "./open-if-readable.ts";
import {
  keysDestroyed,
  openWithOne,
  partitionSecretName,
  type PartitionRegistry,
  secretForWriting,
  secretMissing,
  type SecretSource,
  sourceOf,
} from "./partition-secrets.ts";
import { accountSecretName, type FindHoldSecrets, holdSecretName } from "./sealer.ts";
import type { Secrets } from "./secrets.ts";

/** The version of the sealed format. */
const FORMAT_VERSION = 1;

/** Identifies a row of feature values. The payload of the row is bound to this identity. */
export interface FeatureRowIdentity {
  readonly account: string;
  readonly eventId: string;
  readonly layer: number;
  readonly purpose: number;
  /** The time at which the event was received; milliseconds since the Unix epoch. */
  readonly receivedAt: number;
}

export interface SealedFeatures {
  readonly identity: FeatureRowIdentity;
  readonly keyId: string;
  /** The hold that keeps the row as a copy; `null` if the row is no copy. */
  readonly holdId: string | null;
  readonly payload: Buffer;
}

export interface OpenedFeatures {
  readonly identity: FeatureRowIdentity;
  /** The account key of the event. */
  readonly keyId: string;
  readonly bytes: Uint8Array;
}

/** Seals feature values under the secret of the account and the secret of a partition of feature values. */
export interface FeatureSealer {
  /** Seals the values of stored events. The secret of each account is read once. @throws keys-destroyed, Unavailable */
  sealMany(rows: readonly OpenedFeatures[]): Promise<readonly Buffer[]>;
  /** @throws keys-destroyed, payload-damaged, Unavailable */
  open(identity: FeatureRowIdentity, keyId: string, payload: Buffer): Promise<Buffer>;
  /**
   * Opens many rows. The secret of each account and partition is read once.
   * @returns `undefined` for a row whose secrets were destroyed or lost, or that was damaged. @throws Unavailable
   */
  openMany(rows: readonly SealedFeatures[]): Promise<readonly (Buffer | undefined)[]>;
  /** Seals values for a hold that keeps them. @throws Unavailable */
  sealCopy(identity: FeatureRowIdentity, holdId: string, bytes: Uint8Array): Promise<Buffer>;
  /** @throws keys-destroyed, payload-damaged, Unavailable */
  openCopy(identity: FeatureRowIdentity, holdId: string, payload: Buffer): Promise<Buffer>;
  /** Drops all keys from memory. If this is called every second, a destroyed secret is used no longer than a second. */
  forgetKeys(): void;
}

export function createFeatureSealer(
  secrets: Secrets,
  partitions: PartitionRegistry,
  findHoldSecrets: FindHoldSecrets,
): FeatureSealer {
  const dataKeys = new DataKeys();

  async function accountSecret(keyId: string, from: SecretSource): Promise<Buffer> {
    const name = accountSecretName(keyId);
    const secret = await from.find(name);
    // guard(false): no value is sealed under a secret that is destroyed
    if (!secret) throw keysDestroyed("the keys of this event were destroyed or lost", [name]);
    return secret;
  }

  /** @param from the source of the accounts' secrets. */
  async function keyForWriting(identity: FeatureRowIdentity, keyId: string, from: SecretSource): Promise<KeyObject> {
    const partition = await partitions.find(identity.purpose, identity.receivedAt);
    const known = partition.wasCreated && dataKeys.find(partition.secret, keyId);
    if (known) return known;
    const account = await accountSecret(keyId, from);
    const { id, secret } = await secretForWriting(secrets, partitions, identity, partition);
    const key = deriveFeatureKey(account, secret);
    dataKeys.remember(id, partition.end, keyId, key);
    return key;
  }

  async function partitionNames({ purpose, receivedAt }: FeatureRowIdentity): Promise<readonly string[]> {
    const { secret, lostSecrets } = await partitions.find(purpose, receivedAt);
    return [...lostSecrets, secret].map(partitionSecretName);
  }

  async function open(
    { identity, keyId, payload }: Omit<SealedFeatures, "holdId">,
    from: SecretSource,
  ): Promise<Buffer> {
    const names = await partitionNames(identity);
    const account = await accountSecret(keyId, from);
    return openWithOne(from, names, (one) => openWith(deriveFeatureKey(account, one), identity, payload));
  }

  async function openCopy(identity: FeatureRowIdentity, holdId: string, payload: Buffer): Promise<Buffer> {
    if (payload.length === 0) throw keysDestroyed("the keys of these values were lost before a hold copied them", []);
    const names = (await findHoldSecrets(holdId)).map(holdSecretName);
    return openWithOne(secrets, names, (one) => openWith(holdKey(one), identity, payload));
  }

  return {
    async sealMany(rows) {
      // The stored events are durable, so the files of their accounts' secrets were synced before: this read need not
      // sync them.
      const from = sourceOf(
        await secrets.findForBatch([...new Set(rows.map(({ keyId }) => accountSecretName(keyId)))]),
      );
      const sealed = rows.map(async ({ identity, keyId, bytes }) =>
        sealWith(await keyForWriting(identity, keyId, from), identity, bytes),
      );
      return Promise.all(sealed);
    },

    open: (identity, keyId, payload) => open({ identity, keyId, payload }, secrets),

    async openMany(rows) {
      const names = new Set<string>();
      for (const { identity, keyId } of rows.filter(({ holdId }) => holdId === null)) {
        names.add(accountSecretName(keyId));
        for (const name of await partitionNames(identity)) names.add(name);
      }
      const from = sourceOf(await secrets.findToOpen([...names]));
      const openOne = ({ holdId, ...row }: SealedFeatures): Promise<Buffer> =>
        holdId === null ? open(row, from) : openCopy(row.identity, holdId, row.payload);
      return Promise.all(rows.map((row) => openOne(row).catch(orUnreadable)));
    },

    async sealCopy(identity, holdId, bytes) {
      const name = holdSecretName((await findHoldSecrets(holdId)).at(-1) ?? holdId);
      const secret = await secrets.findForUse(name);
      if (!secret) throw secretMissing(name);
      return sealWith(holdKey(secret), identity, bytes);
    },

    openCopy,

    forgetKeys() {
      dataKeys.clear();
    },
  };
}

function deriveFeatureKey(accountSecret: Buffer, partitionSecret: Buffer): KeyObject {
  return deriveKey(Buffer.concat([accountSecret, partitionSecret]), "feature");
}

const holdKey = (secret: Buffer): KeyObject => deriveKey(secret, "held feature");

const sealWith = (key: KeyObject, identity: FeatureRowIdentity, bytes: Uint8Array): Buffer =>
  encrypt(key, FORMAT_VERSION, associatedData(identity, FORMAT_VERSION), bytes);

const openWith = (key: KeyObject, identity: FeatureRowIdentity, payload: Buffer): Buffer =>
  decrypt(
    key,
    (format) => associatedData(identity, format),
    payload,
    (_, bytes) => bytes,
  );

const associatedData = ({ account, eventId, layer }: FeatureRowIdentity, format: number): Buffer =>
  Buffer.from(JSON.stringify([format, account, eventId, layer]));
