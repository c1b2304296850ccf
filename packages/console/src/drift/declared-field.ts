import type { Field } from "@device-risk-signals/contract/catalog/declare";
import { PROBES } from "../events/field-path.ts";

/** The field of the catalog, if it has the path. */
export function declaredField(path: string): Field | undefined {
  const [probe = "", name = "", member] = path.split(".");
  // Own members alone: a path of a client can be `fonts.constructor`.
  const own = <T>(of: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
    of && Object.hasOwn(of, key) ? of[key] : undefined;
  const field = own(PROBES.get(probe)?.fields, name);
  return member === undefined ? field : own(field?.fields, member);
}
