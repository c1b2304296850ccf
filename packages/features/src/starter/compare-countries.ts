import { equalAscii } from "@device-risk-signals/features";

/** Compares codes of ISO 3166-1, which platforms write in different cases; a code may be empty. */
export function compareCountries(one: string, other: string): "same" | "different" | "unnamed" {
  if (one === "" || other === "") return "unnamed";
  return equalAscii(one, other) ? "same" : "different";
}
