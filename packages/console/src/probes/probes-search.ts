import type { OutcomeGroup } from "@device-risk-signals/admin-api";
import { type Days, daysOf } from "../ui/days.tsx";

/** What the columns of the matrix are. */
export const GROUPS: Readonly<Record<OutcomeGroup, string>> = {
  sdk_version: "SDK version",
  os: "OS version",
  platform: "Platform",
  day: "Day",
};

export interface ProbesSearch {
  days?: Days;
  by?: OutcomeGroup;
  /** The chosen cell. */
  probe?: string;
  group?: string;
}

export function probesSearchOf(values: Readonly<Record<string, unknown>>): ProbesSearch {
  const { by, probe, group } = values;
  return {
    ...daysOf(values),
    ...(typeof by === "string" && Object.hasOwn(GROUPS, by) && { by: by as OutcomeGroup }),
    ...(typeof probe === "string" && { probe }),
    ...(typeof group === "string" && { group }),
  };
}
