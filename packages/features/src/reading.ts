/** JSON type of a stored value. */
export type JsonType = "string" | "number" | "boolean" | "null" | "array" | "object";

/** The state of one field of an event without a value. The first four are states of the contract. */
export type Unobserved =
  /** The event has no outcome of the probe, or its outcome has no such field. */
  | { readonly state: "omitted"; readonly why: "probe-absent" | "field-absent" }
  | { readonly state: "skipped"; readonly reason: string }
  | { readonly state: "timeout" }
  | { readonly state: "error" }
  /** The event holds the field, but its purpose does not cover the field. */
  | { readonly state: "masked" }
  /** The event holds a value which, as the catalog says, is not an observation. */
  | { readonly state: "not-observed" }
  /** The stored JSON value is not of the published type. It is never converted. */
  | { readonly state: "departed"; readonly type: JsonType };

export interface Observed<T> {
  readonly state: "observed";
  readonly value: T;
}

/** One field of one event. It has a `value` only after a test of its `state`. */
export type Reading<T> = Observed<T> | Unobserved;

export type ReadingState = Reading<unknown>["state"];
