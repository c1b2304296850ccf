import type { ProbeDataById } from "@device-risk-signals/contract";

type Value = string | number | boolean | readonly string[] | readonly number[];

type PathsBelow<Prefix extends string, Data> = {
  [Name in keyof Data & string]-?: NonNullable<Data[Name]> extends Value
    ? `${Prefix}.${Name}`
    : PathsBelow<`${Prefix}.${Name}`, NonNullable<Data[Name]>>;
}[keyof Data & string];

type CatalogPath = { [Id in keyof ProbeDataById]: PathsBelow<Id, ProbeDataById[Id]> }[keyof ProbeDataById];

type ValueAt<Data, Path extends string> = Path extends keyof Data
  ? NonNullable<Data[Path]>
  : Path extends `${infer Name}.${infer Below}`
    ? Name extends keyof Data
      ? ValueAt<NonNullable<Data[Name]>, Below>
      : never
    : never;

type CatalogFieldTypes = { readonly [Path in CatalogPath]: ValueAt<ProbeDataById, Path> };

/**
 * The type of each field by its path: `probe.field`, or `probe.field.member` inside an object field. The overlay of an
 * installation adds the fields that it accepted after a review:
 * `declare module "@device-risk-signals/features" { interface FieldTypes { "new_probe.found": boolean } }`.
 */
export interface FieldTypes extends CatalogFieldTypes {}

export type FieldPath = keyof FieldTypes;

declare const valueType: unique symbol;

/** Declares that a feature reads a field; `T` is the type of an observed value. */
export interface FieldInput<T> {
  readonly path: FieldPath;
  readonly [valueType]?: T;
}

/** @param path the path of a field of the catalog or of the overlay */
export function field<const Path extends FieldPath>(path: Path): FieldInput<FieldTypes[Path]> {
  return { path };
}
