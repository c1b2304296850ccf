/**
 * The secrets of partitions: the secret under which events are sealed now, and the secrets that may open stored events.
 */
import { OperatorError } from "../../base/errors/operator-error.ts";
import { Unavailable } from "../../base/ports.ts";
import type { Secrets } from "./secrets.ts";

/** The secrets of a partition, by their ids. */
export interface PartitionSecrets {
  /** The id of the secret under which the partition's events are sealed. */
  readonly secret: string;
  /** Whether the database has recorded that the secret was created. If so, a missing secret is lost. */
  readonly wasCreated: boolean;
  /** Ids of earlier secrets whose loss was accepted. A key store that was restored later may have them again. */
  readonly lostSecrets: readonly string[];
  /** The time after which the partition receives no more events; milliseconds since the Unix epoch. */
  readonly end: number;
}

/** The partitions and their secrets, as the database has recorded them. */
export interface PartitionRegistry {
  /** Finds the secrets of a partition, without a promise if they are known. @throws Unavailable */
  find(purpose: number, receivedAt: number): PartitionSecrets | Promise<PartitionSecrets>;
  /**
   * Reads the secrets of a partition from the database, and creates the partition if it does not exist. @throws
   * Unavailable
   */
  ensure(purpose: number, receivedAt: number): Promise<PartitionSecrets>;
  /** Records durably that the secret was created. @throws Unavailable */
  recordCreated(secret: string): Promise<void>;
}

interface InPartition {
  readonly purpose: number;
  /** Milliseconds since the Unix epoch. */
  readonly receivedAt: number;
}

/** @param secretId the id of the partition, unless its first secret was lost. */
export const partitionSecretName = (secretId: string): string => `partition/${secretId}`;

export const secretMissing = (name: string): Unavailable =>
  new Unavailable(`the key store lacks the secret ${name}: restore it, or drs key accept-loss`, {
    code: "secret-missing",
  });

export const keysDestroyed = (message: string, secrets: readonly string[]): OperatorError =>
  new OperatorError("keys-destroyed", message, { detail: { secrets } });

/**
 * The current secret of a partition, with its id. It is created once, and the database records this before any event is
 * sealed under it. If a server created a lost secret again, it would hide the loss.
 */
export async function secretForWriting(
  secrets: Secrets,
  partitions: PartitionRegistry,
  place: InPartition,
  { secret: id, wasCreated }: PartitionSecrets,
): Promise<{ id: string; secret: Buffer }> {
  const name = partitionSecretName(id);
  // Without the record, the secret is not taken from memory: after a failover the record may be missing, and another
  // secret may have this name.
  let secret = await (wasCreated ? secrets.findRecent(name) : secrets.findForUse(name));
  if (!secret) {
    const present = await partitions.ensure(place.purpose, place.receivedAt);
    // The loss of the secret was accepted in the meantime.
    if (present.secret !== id) return secretForWriting(secrets, partitions, place, present);
    // guard(false): a lost secret is not created again under its name
    secret = await (present.wasCreated ? secrets.find(name) : secrets.findOrCreate(name));
    if (!secret) throw secretMissing(name);
  }
  if (!wasCreated) await partitions.recordCreated(id);
  return { id, secret };
}

export type SecretSource = Pick<Secrets, "find">;

/** A source of secrets that were read before. */
export const sourceOf = (found: ReadonlyMap<string, Buffer>): SecretSource => ({
  find: async (name) => found.get(name),
});

/**
 * Opens a payload with the secret that fits. If none fits, the payload was changed, unless there are earlier or missing
 * secrets: then the payload may have been sealed under one of those.
 * @param names the names of secrets, the current one last.
 * @throws keys-destroyed, payload-damaged, and the errors of `secrets`
 */
export async function openWithOne<T>(
  secrets: SecretSource,
  names: readonly string[],
  open: (secret: Buffer) => T,
): Promise<T> {
  const lost = new Set(names.slice(0, -1));
  let broken: unknown;
  for (const name of names.toReversed()) {
    const secret = await secrets.find(name);
    if (!secret) {
      lost.add(name);
      continue;
    }
    try {
      return open(secret);
    } catch (error) {
      broken = error;
    }
  }
  if (lost.size > 0) throw keysDestroyed("the keys of this event were destroyed or lost", [...lost]);
  throw broken;
}
