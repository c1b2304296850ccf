/** An idempotency key, as the address and the search line name it. */
import { textsOf } from "../ui/search-texts.ts";

/** A key belongs to its account: another account may use the same one. */
export interface KeySearch {
  readonly account?: string;
  readonly key?: string;
}

export const keySearchOf = (values: Readonly<Record<string, unknown>>): KeySearch =>
  textsOf(values, ["account", "key"]);

/** A key as the SDK's client makes it, or any long word after its account. */
const KEY = /^(?<key>[0-9a-f]{32})$|^(?<account>.*\S)\s+(?<key>\S{16,128})$/u;

/** @returns `undefined` if the text is no key of this form. */
export const keyInText = (text: string): KeySearch | undefined => KEY.exec(text)?.groups;
