import type { KeyObject } from "node:crypto";
import { decrypt, encrypt } from "./authenticated-encryption.ts";
import { DataKeys } from "./data-keys.ts";
import { deriveKey } from "./derive-key.ts";
import {
  keysDestroyed,
  openWithOne,
  partitionSecretName,
  type PartitionRegistry,
  secretForWriting,
  secretMissing,
} from "./partition-secrets.ts";
import { accountSecretName, type FindHoldSecrets, holdSecretName } from "./sealer.ts";
import type { Secrets } from "./secrets.ts";

/** The version of what is sealed. */
const FORMAT = 1;

/** The identity of a row of feature values, which its payload is bound to. */
export interface FeatureIdentity {
  readonly account: string;
  readonly eventId: string;
  readonly layer: number;
  readonly purpose: number;
  /** When the event was received; milliseconds since the Unix epoch. */
  readonly receivedAt: number;
}

/** Seals feature values under the account's secret and the one of a partition of feature values. */
export interface FeatureSealer {
  /** @param keyId the account key of the event. @throws keys-destroyed, Unavailable */
  seal(identity: FeatureIdentity, keyId: string, bytes: Uint8Array): Promise<Buffer>;
  /** @throws keys-destroyed, payload-damaged, Unavailable */
  open(identity: FeatureIdentity, keyId: string, payload: Buffer): Promise<Buffer>;
  /** Seals values for a hold that keeps them. @throws secret-missing */
  sealCopy(identity: FeatureIdentity, holdId: string, bytes: Uint8Array): Promise<Buffer>;
  /** @throws keys-destroyed, payload-damaged, Unavailable */
  openCopy(identity: FeatureIdentity, holdId: string, payload: Buffer): Promise<Buffer>;
  /** Drops all keys from memory. While this is called each second, destroyed secrets are used no longer than that. */
  forgetKeys(): void;
}

export function createFeatureSealer(
  secrets: Secrets,
  partitions: PartitionRegistry,
  findHoldSecrets: FindHoldSecrets,
): FeatureSealer {
  const dataKeys = new DataKeys();

  async function accountSecret(keyId: string): Promise<Buffer> {
    const name = accountSecretName(keyId);
    const secret = await secrets.find(name);
    // guard(false): no value is sealed under a secret that is destroyed
    // fails: packages/server/src/crypto/feature-sealer.test.ts › seals nothing
    if (!secret) throw keysDestroyed("the keys of this event were destroyed or lost", [name]);
    return secret;
  }

  async function keyForWriting(identity: FeatureIdentity, keyId: string): Promise<KeyObject> {
    const partition = await partitions.find(identity.purpose, identity.receivedAt);
    const known = partition.wasCreated && dataKeys.find(partition.secret, keyId);
    if (known) return known;
    const account = await accountSecret(keyId);
    const { id, secret } = await secretForWriting(secrets, partitions, identity, partition);
    const key = derive(account, secret);
    dataKeys.remember(id, partition.end, keyId, key);
    return key;
  }

  return {
    async seal(identity, keyId, bytes) {
      return encrypt(await keyForWriting(identity, keyId), FORMAT, associatedData(identity, FORMAT), bytes);
    },

    async open(identity, keyId, payload) {
      const { secret, lostSecrets } = await partitions.find(identity.purpose, identity.receivedAt);
      const account = await accountSecret(keyId);
      const names = [...lostSecrets, secret].map(partitionSecretName);
      return openWithOne(secrets, names, (one) => openWith(derive(account, one), identity, payload));
    },

    async sealCopy(identity, holdId, bytes) {
      const name = holdSecretName((await findHoldSecrets(holdId)).at(-1) ?? holdId);
      const secret = await secrets.findForUse(name);
      if (!secret) throw secretMissing(name);
      return encrypt(holdKey(secret), FORMAT, associatedData(identity, FORMAT), bytes);
    },

    async openCopy(identity, holdId, payload) {
      if (payload.length === 0) throw keysDestroyed("the keys of these values were lost before a hold copied them", []);
      const names = (await findHoldSecrets(holdId)).map(holdSecretName);
      return openWithOne(secrets, names, (one) => openWith(holdKey(one), identity, payload));
    },

    forgetKeys() {
      dataKeys.clear();
    },
  };
}

function derive(accountSecret: Buffer, partitionSecret: Buffer): KeyObject {
  return deriveKey(Buffer.concat([accountSecret, partitionSecret]), "feature");
}

const holdKey = (secret: Buffer): KeyObject => deriveKey(secret, "held feature");

const openWith = (key: KeyObject, identity: FeatureIdentity, payload: Buffer): Buffer =>
  decrypt(
    key,
    (format) => associatedData(identity, format),
    payload,
    (_, bytes) => bytes,
  );

const associatedData = ({ account, eventId, layer }: FeatureIdentity, format: number): Buffer =>
  Buffer.from(JSON.stringify([format, account, eventId, layer]));
