/** The policy as its last file has it, with other periods. JSON is YAML, so the text is a policy file. */

export interface PolicyPurpose {
  readonly id: string;
  readonly title: string;
  readonly raw_retention: string;
  readonly derived_retention: string;
}

export type PeriodName = "raw_retention" | "derived_retention";

export const isPeriodName = (member: string): member is PeriodName =>
  member === "raw_retention" || member === "derived_retention";

/** New periods by the id of a purpose. */
export type Periods = Readonly<Record<string, Partial<Readonly<Record<PeriodName, string>>>>>;

type Members = Readonly<Record<string, unknown>>;

const membersOf = (value: unknown): Members => (typeof value === "object" && value !== null ? (value as Members) : {});

const purposesIn = (policy: unknown): readonly Members[] => {
  const { purposes } = membersOf(policy);
  return Array.isArray(purposes) ? purposes.map(membersOf) : [];
};

const isPurpose = (members: Members): boolean =>
  ["id", "title", "raw_retention", "derived_retention"].every((name) => typeof members[name] === "string");

/** By id, as the list of purposes has them. */
export const purposesOf = (policy: unknown): readonly PolicyPurpose[] =>
  (purposesIn(policy).filter(isPurpose) as unknown as readonly PolicyPurpose[]).toSorted((a, b) =>
    a.id.localeCompare(b.id),
  );

export const withPeriods = (policy: unknown, periods: Periods): string =>
  `${JSON.stringify(
    {
      ...membersOf(policy),
      purposes: purposesIn(policy).map((purpose) => ({ ...purpose, ...periods[String(purpose["id"])] })),
    },
    null,
    2,
  )}\n`;
