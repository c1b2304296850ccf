/**
 * The words in which a probe file declares its fields. Everything that is known about a field (types, JSON Schema,
 * OpenAPI, data dictionary, validation, drift) derives from such a declaration; nothing is written twice.
 */

import type { Disclosure } from "./disclosure.ts";

export type Platform = "android" | "ios";

/**
 * How much a value says about a person.
 *
 * - `low`: shared by every device of a model, OS version or app build.
 * - `medium`: sets devices apart when combined (free space, boot time, installed tools), or describes how a person set the device up.
 * - `high`: location, telephony, network names and addresses, installed apps, accessibility use.
 */
export type Sensitivity = "low" | "medium" | "high";

export type Unit =
  | "ms"
  | "ns"
  | "s"
  | "minutes"
  | "epoch ms"
  | "bytes"
  | "mV"
  | "°C"
  | "kbps"
  | "MHz"
  | "Hz"
  | "px"
  | "dpi"
  | "ratio"
  | "count"
  | "m"
  | "degrees"
  | "port"
  | "API level"
  | "index"
  /** A bare number: an identifier, or a quantity without dimension that is no proportion. */
  | "none";

export type FieldType = "string" | "boolean" | "number" | "string[]" | "number[]" | "object";

/** A permission (or, on iOS, an entitlement or authorisation) without which the platform does not give the value out. */
export type Permission = Partial<Record<Platform, string>>;

export interface Field {
  readonly type: FieldType;
  /** One line: what the value says, and what it does not say where that is easily mistaken. */
  readonly meaning: string;
  readonly unit?: Unit;
  /** Where the SDK fills it. Empty: kept for the contract, never filled. */
  readonly platforms: readonly Platform[];
  /** Required in a `success` outcome of its probe. */
  readonly required: boolean;
  readonly sensitivity: Sensitivity;
  readonly permission?: Permission;
  /** Platforms on which the value is a constant that observes nothing; readers treat it as omitted there. */
  readonly constantOn?: readonly Platform[];
  /** Members of an `object`; such an object takes no others. */
  readonly fields?: Readonly<Record<string, Field>>;
}

export interface Probe {
  readonly id: string;
  readonly title: string;
  readonly meaning: string;
  readonly platforms: readonly Platform[];
  /** Whether the SDK runs the probe, after consent, without being asked. */
  readonly enabledByDefault: boolean;
  /** What a host that sends the probe's data declares to the stores. */
  readonly disclosure: Disclosure;
  readonly fields: Readonly<Record<string, Field>>;
}

export interface FieldOptions {
  readonly on?: Platform | "both" | "never";
  readonly required?: true;
  readonly sensitivity?: Sensitivity;
  readonly permission?: Permission;
  readonly constantOn?: readonly Platform[];
}

const PLATFORMS: Readonly<Record<NonNullable<FieldOptions["on"]>, readonly Platform[]>> = {
  android: ["android"],
  ios: ["ios"],
  both: ["android", "ios"],
  never: [],
};

function field(type: FieldType, meaning: string, options: FieldOptions, rest: Partial<Field> = {}): Field {
  return {
    type,
    meaning,
    platforms: PLATFORMS[options.on ?? "both"],
    required: options.required ?? false,
    sensitivity: options.sensitivity ?? "low",
    ...(options.permission && { permission: options.permission }),
    ...(options.constantOn && { constantOn: options.constantOn }),
    ...rest,
  };
}

export function string(meaning: string, options: FieldOptions = {}): Field {
  return field("string", meaning, options);
}

export function boolean(meaning: string, options: FieldOptions = {}): Field {
  return field("boolean", meaning, options);
}

/** A finite JSON number. `unit` stands in the name too wherever the contract's name carries one. */
export function number(unit: Unit, meaning: string, options: FieldOptions = {}): Field {
  return field("number", meaning, options, { unit });
}

export function strings(meaning: string, options: FieldOptions = {}): Field {
  return field("string[]", meaning, options);
}

export function numbers(unit: Unit, meaning: string, options: FieldOptions = {}): Field {
  return field("number[]", meaning, options, { unit });
}

/** An object with exactly these members, each optional unless required. */
export function object(meaning: string, fields: Readonly<Record<string, Field>>, options: FieldOptions = {}): Field {
  return field("object", meaning, options, { fields });
}
