import type { Pseudonymizer } from "../crypto/pseudonymizer.ts";
import type { Secrets } from "../crypto/secrets.ts";
import type { Clock } from "../ports.ts";
import { Lane, type LaneEntry, signAlone, type SignedEntry } from "./log/lane.ts";
import { surfaceKeys, surfaceOf, type Surfaces } from "./log/surfaces.ts";

/** An account and its keyed MAC. */
export interface NamedAccount {
  readonly name: string;
  readonly subject: Buffer;
}

/** Signs audit entries, each with the key of the surface that writes it. */
export class AuditSigner {
  readonly clock: Clock;
  readonly surfaces: Required<Surfaces>;
  /** The secrets that reasons and details are sealed under. */
  readonly secrets: Secrets;
  readonly #pseudonymizer: Pseudonymizer;

  /** @param installation the installation secret. */
  constructor(installation: Buffer, pseudonymizer: Pseudonymizer, secrets: Secrets, clock: Clock) {
    this.clock = clock;
    this.surfaces = surfaceKeys(installation);
    this.secrets = secrets;
    this.#pseudonymizer = pseudonymizer;
  }

  /** The keyed MAC by which entries name an account. */
  subjectOf(account: string): Buffer {
    return this.#pseudonymizer.subjectOf("account", account);
  }

  /** An account as a filter of entries. */
  named(name: string): NamedAccount {
    return { name, subject: this.subjectOf(name) };
  }

  /** A chain of entries of ingestion. */
  lane(): Lane {
    return new Lane({ surface: "ingest", key: this.surfaces.ingest });
  }

  /** Signs an entry of a person or a program, which is in no lane. */
  sign(entry: LaneEntry): SignedEntry {
    const surface = surfaceOf(entry.via);
    return signAlone({ surface, key: this.surfaces[surface] }, entry);
  }
}
