import { CATALOG } from "./catalog.ts";
import type { Field, Platform, Range } from "./declare.ts";

type Data = Readonly<Record<string, unknown>>;

/**
 * @returns one line for each value that the SDK never produces on `platform`; empty if the SDK can produce every value
 */
export function outsideVocabulary(platform: Platform, probes: Readonly<Record<string, unknown>>): readonly string[] {
  const system = systemOf(platform, probes);
  return CATALOG.flatMap(({ id, fields }) => fieldsOutside(platform, system, `${id}.`, dataOf(probes, id), fields));
}

function fieldsOutside(
  platform: Platform,
  system: number | undefined,
  prefix: string,
  data: Data,
  fields: Readonly<Record<string, Field>>,
): readonly string[] {
  return Object.entries(data).flatMap(([name, value]) => {
    const field = fields[name];
    if (field === undefined) return [];
    const path = prefix + name;
    if (!field.platforms.includes(platform) && !field.required) return [`${path} is never filled on ${platform}`];
    if (field.fields) return fieldsOutside(platform, system, `${path}.`, value as Data, field.fields);
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    const violations = items.flatMap((item) =>
      fits(item, field, platform) ? [] : [`${path}: ${JSON.stringify(item)}`],
    );
    return isProvided(field, platform, system)
      ? violations
      : [...violations, `${path} is not provided by ${platform} ${system}`];
  });
}

function fits(value: unknown, { values, form, range }: Field, platform: Platform): boolean {
  if (typeof value === "number") return isWithin(value, range?.[platform] ?? {});
  if (typeof value !== "string") return true;
  return (values?.[platform]?.includes(value) ?? true) && (!form || new RegExp(form.pattern).test(value));
}

function isWithin(value: number, { min = -Infinity, max = Infinity, integer }: Range): boolean {
  return value >= min && value <= max && (!integer || Number.isInteger(value));
}

function isProvided({ systems }: Field, platform: Platform, system: number | undefined): boolean {
  const { since = 0, until = Infinity } = systems?.[platform] ?? {};
  return system === undefined || (system >= since && system <= until);
}

/** The API level or the major version of iOS; `undefined` if the event does not have it. */
function systemOf(platform: Platform, probes: Data): number | undefined {
  const { androidBuild, systemVersion } = dataOf(probes, "device_identity");
  const system =
    platform === "ios" ? parseInt(String(systemVersion), 10) : (androidBuild as Data | undefined)?.["sdkInt"];
  return typeof system === "number" && Number.isFinite(system) ? system : undefined;
}

function dataOf(probes: Data, id: string): Data {
  return (probes[id] as { data?: Data } | undefined)?.data ?? {};
}
