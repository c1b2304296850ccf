/** JSON type of a stored value. */
export type JsonType = "string" | "number" | "boolean" | "null" | "array" | "object";

/** A reading without a value. The first four states are those of the contract. */
export type Unobserved =
  /** The event has no outcome of the probe, or its outcome has no such field. */
  | { readonly state: "omitted"; readonly why: "probe-absent" | "field-absent" }
  | { readonly state: "skipped"; readonly reason: string }
  | { readonly state: "timeout" }
  | { readonly state: "error" }
  /** The event has the field, or has its probe without data, but the event's purpose does not cover the field. */
  | { readonly state: "masked" }
  /** The event has a value that is no observation, as the catalog says. */
  | { readonly state: "not-observed" }
  /** The stored JSON value does not have the published type. No code converts the value. */
  | { readonly state: "departed"; readonly type: JsonType };

export interface Observed<T> {
  readonly state: "observed";
  readonly value: T;
}

/** One field of one event. Its `value` can be read only after a test of its `state`. */
export type Reading<T> = Observed<T> | Unobserved;

export type ReadingState = Reading<unknown>["state"];
