import type { Field, Platform, Probe } from "./declare.ts";

/** `constant`: the SDK sends a fixed value on the platform. `not-performed`: the probe says in a field that it did not do its work. */
export type NotObserved = { readonly why: "constant" } | { readonly why: "not-performed"; readonly field: string };

/**
 * Why a value of a successful outcome is no observation, although the event has it.
 *
 * @param name the field of the probe's data, or the one that contains the member.
 * @param field the catalog's declaration of the field or member; `undefined` for one that the catalog does not know.
 */
export function whyNotObserved(
  { performed }: Pick<Probe, "performed">,
  name: string,
  field: Field | undefined,
  { data, platform }: { readonly data: Readonly<Record<string, unknown>>; readonly platform: string },
): NotObserved | undefined {
  if (field?.constantOn?.includes(platform as Platform)) return { why: "constant" };
  if (!performed || name === performed.field || name === performed.reason) return undefined;
  return data[performed.field] === false ? { why: "not-performed", field: performed.field } : undefined;
}
