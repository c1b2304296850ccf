/**
 * The types and functions with which a probe file declares its fields. Everything that is known about a field (types,
 * JSON Schema, OpenAPI, data dictionary, validation, drift) derives from such a declaration, so that no fact is written
 * twice.
 */

import type { Disclosure } from "./disclosure.ts";
import type { Form } from "./forms.ts";

export type Platform = "android" | "ios";

/**
 * How much a value says about a person.
 *
 * - `low`: shared by every device of a model, OS version or app build.
 * - `medium`: in combination distinguishes devices (free space, boot time, installed tools), or describes how a person
 *   set up the device.
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

/** A permission (or, on iOS, an entitlement or authorisation) without which the platform withholds the value. */
export type Permission = Partial<Record<Platform, string>>;

export type ByPlatform<Content> = Readonly<Partial<Record<Platform, Content>>>;

/** Inclusive bounds. */
export interface Range {
  readonly min?: number;
  readonly max?: number;
  readonly integer?: true;
}

/** API levels of Android or major versions of iOS. */
export interface Systems {
  readonly since?: number;
  readonly until?: number;
}

/**
 * The values that a field can have. For a text: a closed vocabulary, a form, or the platform's own words. For a number:
 * a range. Documents show the vocabulary, and tests check the SDK's values against it. The server accepts a value
 * outside the vocabulary, and does not count it as drift.
 */
export interface Vocabulary {
  /** All values, in snake_case. A value that both platforms know has one spelling. */
  readonly values?: ByPlatform<readonly string[]>;
  readonly form?: Form;
  /** The value is what the platform says, unchanged. */
  readonly raw?: true;
  readonly range?: ByPlatform<Range>;
  /** The system versions that provide the value; without this member, all versions. */
  readonly systems?: ByPlatform<Systems>;
}

export interface Field extends Vocabulary {
  readonly type: FieldType;
  /** One line: what the value says and, if readers may misunderstand it, what it does not say. */
  readonly meaning: string;
  readonly unit?: Unit;
  /**
   * The platforms on which the SDK fills the field. If empty, the contract lists the field but the SDK never fills it.
   */
  readonly platforms: readonly Platform[];
  /** Required in a `success` outcome of its probe. */
  readonly required: boolean;
  readonly sensitivity: Sensitivity;
  readonly permission?: Permission;
  /** Platforms on which the SDK sends a constant and no observation. Readers treat the field as omitted there. */
  readonly constantOn?: readonly Platform[];
  /** The tables of the contract do not have the field. The contract allows it: success data may have extra keys. */
  readonly addition?: true;
  /** The members of an `object`. It has no others. */
  readonly fields?: Readonly<Record<string, Field>>;
}

export interface Probe {
  readonly id: string;
  readonly title: string;
  readonly meaning: string;
  readonly platforms: readonly Platform[];
  /** Whether the probe is enabled if the configuration of the SDK does not mention it. It also needs consent. */
  readonly enabledByDefault: boolean;
  /** What the app must declare to the app stores if it sends the probe's data. */
  readonly disclosure: Disclosure;
  /**
   * `field`: the required field that is `false` if the probe did not do its work. Then no other field is an
   * observation, except the field that `reason` names.
   */
  readonly performed?: { readonly field: string; readonly reason?: string };
  readonly fields: Readonly<Record<string, Field>>;
}

export interface FieldOptions {
  readonly on?: Platform | "both" | "never";
  /** The closed vocabulary of a text: one list for each platform that fills the field, or a list by platform. */
  readonly values?: readonly string[] | ByPlatform<readonly string[]>;
  readonly form?: Form;
  readonly raw?: true;
  /**
   * The range of a number: one range for each platform that fills the field, or a range by platform. Default: the range
   * of the unit.
   */
  readonly range?: Range | ByPlatform<Range>;
  readonly systems?: ByPlatform<Systems>;
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

const AMOUNT: Range = { min: 0 };
const WHOLE: Range = { min: 0, integer: true };

/** The range of the numbers of a unit, unless a field says otherwise. */
const RANGES: Readonly<Record<Unit, Range>> = {
  ms: AMOUNT,
  ns: AMOUNT,
  s: AMOUNT,
  minutes: AMOUNT,
  "epoch ms": WHOLE,
  bytes: WHOLE,
  mV: WHOLE,
  "°C": {},
  kbps: WHOLE,
  MHz: AMOUNT,
  Hz: AMOUNT,
  px: WHOLE,
  dpi: WHOLE,
  ratio: AMOUNT,
  count: WHOLE,
  m: AMOUNT,
  degrees: {},
  port: { min: 1, max: 65_535, integer: true },
  "API level": WHOLE,
  index: WHOLE,
  none: AMOUNT,
};

/** Every unit. */
export const UNITS = Object.keys(RANGES) as readonly Unit[];

function isByPlatform<Content extends object>(content: Content | ByPlatform<Content>): content is ByPlatform<Content> {
  return Object.keys(content).some((key) => key === "android" || key === "ios");
}

function onEach<Content extends object>(
  platforms: readonly Platform[],
  content: Content | ByPlatform<Content>,
): ByPlatform<Content> {
  if (isByPlatform(content)) return content;
  return Object.fromEntries(platforms.map((platform) => [platform, content]));
}

function field(type: FieldType, meaning: string, options: FieldOptions, rest: Partial<Field> = {}): Field {
  const platforms = PLATFORMS[options.on ?? "both"];
  const range = options.range ?? (rest.unit && RANGES[rest.unit]);
  return {
    type,
    meaning,
    platforms,
    required: options.required ?? false,
    sensitivity: options.sensitivity ?? "low",
    ...(options.permission && { permission: options.permission }),
    ...(options.constantOn && { constantOn: options.constantOn }),
    ...(options.values && { values: onEach(platforms, options.values) }),
    ...(options.form && { form: options.form }),
    ...(options.raw && { raw: options.raw }),
    ...(range && Object.keys(range).length > 0 && { range: onEach(platforms, range) }),
    ...(options.systems && { systems: options.systems }),
    ...rest,
  };
}

export function string(meaning: string, options: FieldOptions = {}): Field {
  return field("string", meaning, options);
}

export function boolean(meaning: string, options: FieldOptions = {}): Field {
  return field("boolean", meaning, options);
}

/** A finite JSON number. If the field's name ends in a unit, as `uptimeMs` does, `unit` is the same. */
export function number(unit: Unit, meaning: string, options: FieldOptions = {}): Field {
  return field("number", meaning, options, { unit });
}

export function strings(meaning: string, options: FieldOptions = {}): Field {
  return field("string[]", meaning, options);
}

export function numbers(unit: Unit, meaning: string, options: FieldOptions = {}): Field {
  return field("number[]", meaning, options, { unit });
}

/** An object that has no other members than `fields`. */
export function object(meaning: string, fields: Readonly<Record<string, Field>>, options: FieldOptions = {}): Field {
  return field("object", meaning, options, { fields });
}

/** The fields of a probe that the tables of the contract do not have. They follow the fields of the contract. */
export function additions(fields: Readonly<Record<string, Field>>): Readonly<Record<string, Field>> {
  return Object.fromEntries(Object.entries(fields).map(([name, own]) => [name, { ...own, addition: true }]));
}
