import type { ProbeDataById } from "@device-risk-signals/contract";

/** `name.member` for the members of an object. */
type MemberNames<Data> = {
  [Name in keyof Data & string]-?: NonNullable<Data[Name]> extends readonly unknown[] | string | number | boolean
    ? never
    : `${Name}.${keyof NonNullable<Data[Name]> & string}`;
}[keyof Data & string];

/** What each field of the catalog says, for people. The compiler misses none. */
export type Observations = {
  readonly [Id in keyof ProbeDataById]: {
    readonly [Name in (keyof ProbeDataById[Id] & string) | MemberNames<ProbeDataById[Id]>]: string;
  };
};
