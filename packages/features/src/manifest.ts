import type { FieldType, Platform, Sensitivity, Unit } from "@device-risk-signals/contract/catalog/declare";

/** The names of the probe, the field and, inside an object field, the member. */
export type InputPath = readonly string[];

/** One input of a feature, with the facts of the catalog that decide how a stored value is read. */
export interface ManifestInput {
  /** The name under which `compute` receives the reading. */
  readonly name: string;
  readonly path: InputPath;
  readonly type: Exclude<FieldType, "object">;
  readonly unit?: Unit;
  /** Platforms on which the value is a constant and no observation. */
  readonly constantOn?: readonly Platform[];
  /** The field of the same probe that is `false` if the probe did not do its work. */
  readonly performedBy?: string;
  /**
   * The sensitivity that the catalog or the overlay declares. It is not part of the identity, so it does not change the
   * hash.
   */
  readonly sensitivity: Sensitivity;
}

/** Which values a feature can have. `bins` group values in tallies and plots; they are not part of the identity. */
export type Output =
  | { readonly type: "flag" }
  /** A whole number of at least 0. */
  | { readonly type: "count"; readonly bins: readonly number[] }
  | { readonly type: "number"; readonly unit: Unit; readonly bins: readonly number[] }
  | { readonly type: "category"; readonly values: readonly string[] };

/** The description of one version of a feature. Its stored form is canonical JSON (RFC 8785). */
export interface Manifest {
  readonly id: string;
  readonly version: number;
  /** SHA-256 of the identity, in hexadecimal. */
  readonly hash: string;
  readonly owner: string;
  readonly meaning: string;
  /** Situations in which the value misleads, as far as they are known. */
  readonly falseReadings: readonly string[];
  readonly purposes: readonly string[];
  readonly inputs: readonly ManifestInput[];
  readonly output: Output;
}

/** One version of a feature as it is archived and run. */
export interface Bundle {
  readonly id: string;
  readonly version: number;
  readonly hash: string;
  /** The normalised program of `compute` with everything that it imports. */
  readonly text: string;
  readonly manifest: Manifest;
}
