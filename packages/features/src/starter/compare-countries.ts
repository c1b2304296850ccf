import { equalAscii } from "@device-risk-signals/features";

/** Compares codes of ISO 3166-1, which platforms write in different cases; a code may be empty. */
export function compareCountries(one: string, other: string): "same" | "different" | "unnamed" {
  if (one === "" || other === "") return "unnamed";
  // A longer text is no code, and it would take long to change the case of each letter.
  const isSame = one.length > 3 ? one === other : equalAscii(one, other);
  return isSame ? "same" : "different";
}
