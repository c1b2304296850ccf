import { deriveKey } from "../store/crypto/derive-key.ts";
import type { NumberedIds } from "../store/crypto/numbered-ids.ts";
import type { Pseudonymizer } from "../store/crypto/pseudonymizer.ts";
import { isMacOf } from "../store/crypto/mac.ts";
import { RowSigner } from "../store/crypto/row-signer.ts";
import type { Secrets } from "../store/crypto/secrets.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import type { Clock } from "../base/ports.ts";
import {
  Lane,
  type LaneEntry,
  signOutsideLane,
  type SignedEntry,
  type SurfaceKey,
} from "../store/audit-record/lane.ts";
import { type SignedRecord, type Surface, SURFACES } from "../store/audit-record/record.ts";
import { type KeyRing, surfaceKeys, surfaceOf, type SurfaceKeys } from "../store/audit-record/surfaces.ts";

/** An account and its keyed MAC. */
export interface NamedAccount {
  readonly name: string;
  readonly subject: Buffer;
}

/** Signs each audit entry with the MAC key of the surface that writes it. */
export class AuditSigner {
  readonly clock: Clock;
  /** The keys with which this process signs. */
  readonly surfaces: SurfaceKeys;
  /** Keys that were used before the current ones, oldest first. */
  readonly replaced: KeyRing;
  /** Signs the rows of reviews. */
  readonly reviews: RowSigner;
  /** Signs the rows of verifications. */
  readonly verifications: RowSigner;
  /** The secrets under which reasons and details are sealed. */
  readonly secrets: Secrets;
  readonly #pseudonymizer: Pseudonymizer;

  /**
   * @param installation the installation secret. @param own the keys of the key file; without a key file, all keys are
   * derived from the installation secret.
   */
  constructor(installation: Buffer, pseudonymizer: Pseudonymizer, secrets: Secrets, clock: Clock, own?: KeyRing) {
    const derived = surfaceKeys(installation);
    this.clock = clock;
    this.reviews = new RowSigner(deriveKey(installation, "audit reviews"));
    this.verifications = new RowSigner(deriveKey(installation, "audit verifications"));
    this.surfaces = own ? bySurface((surface) => own[surface]?.at(-1)) : derived;
    this.replaced = own ? bySurface((surface) => [derived[surface], ...(own[surface] ?? []).slice(0, -1)]) : {};
    this.secrets = secrets;
    this.#pseudonymizer = pseudonymizer;
  }

  /** The keyed MAC by which entries name an account. */
  subjectOf(account: string): Buffer {
    return this.#pseudonymizer.subjectOf("account", account);
  }

  /** The ids of the audit secrets of an account. Without a keyed MAC, the ids of the installation's. */
  secretIdsOf(subject: Buffer | undefined): NumberedIds {
    return this.#pseudonymizer.auditSecretIdsOf(subject);
  }

  /** Prepares an account for a filter of entries. */
  named(name: string): NamedAccount {
    return { name, subject: this.subjectOf(name) };
  }

  /** Opens a lane for entries of ingestion. @throws key-file-unusable */
  lane(): Lane {
    return new Lane(this.#keyOf("ingest"));
  }

  /** Signs an entry of a person or a program. Such an entry is in no lane. @throws key-file-unusable */
  sign(entry: LaneEntry): SignedEntry {
    return signOutsideLane(this.#keyOf(surfaceOf(entry.via)), entry);
  }

  /** Whether the MAC was made with a key of the key file. */
  hasOwnKey(surface: Surface, signed: SignedRecord): boolean {
    return this.replaced[surface] !== undefined && this.isOwn(surface, signed);
  }

  /** Whether the MAC was made with a key of the key file or, without a key file, with a derived key. */
  isOwn(surface: Surface, { bytes, mac }: SignedRecord): boolean {
    const [, ...earlier] = this.replaced[surface] ?? [];
    const keys = [...earlier, this.surfaces[surface]];
    return keys.some((key) => key && isMacOf(key, bytes, mac));
  }

  /** @throws key-file-unusable if a key of the surfaces is missing. */
  requireKeys(surfaces: readonly Surface[]): void {
    for (const surface of surfaces) this.#keyOf(surface);
  }

  #keyOf(surface: Surface): SurfaceKey {
    const key = this.surfaces[surface];
    if (key) return { surface, key };
    throw new OperatorError("key-file-unusable", `DRS_AUDIT_KEY_FILE has no key of the surface ${surface}`);
  }
}

const bySurface = <Value>(valueOf: (surface: Surface) => Value | undefined): { readonly [Name in Surface]?: Value } =>
  Object.fromEntries(
    SURFACES.flatMap((surface) => {
      const value = valueOf(surface);
      return value === undefined ? [] : [[surface, value]];
    }),
  );
