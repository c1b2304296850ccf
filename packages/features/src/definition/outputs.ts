import type { Unit } from "@device-risk-signals/contract/catalog/declare";
import type { Output } from "../manifest.ts";

export interface Flag {
  readonly type: "flag";
}
export interface Count {
  readonly type: "count";
  readonly bins: readonly number[];
}
export interface Quantity {
  readonly type: "number";
  readonly unit: Unit;
  readonly bins: readonly number[];
}
export interface Category<Value extends string> {
  readonly type: "category";
  readonly values: readonly Value[];
}

/** The type of an observed value. */
export type ValueOf<Of extends Output> = Of extends Category<infer Value> ? Value : Of extends Flag ? boolean : number;

/** `true` or `false`. */
export const flag = (): Flag => ({ type: "flag" });

/** A whole number of at least 0. @param bins the lower bounds of the groups in tallies, ascending */
export const count = ({ bins }: { readonly bins: readonly number[] }): Count => ({ type: "count", bins });

/** A finite number. @param options.bins the lower bounds of the groups in tallies, ascending */
export const number = ({ unit, bins }: { readonly unit: Unit; readonly bins: readonly number[] }): Quantity => ({
  type: "number",
  unit,
  bins,
});

/** One of the given texts. */
export const category = <const Value extends string>(values: readonly Value[]): Category<Value> => ({
  type: "category",
  values,
});
