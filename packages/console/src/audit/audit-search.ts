/** What the address of the first audit screen has. */
export interface AuditSearch {
  /** The verification whose result is shown. */
  readonly verification?: string;
  /** Days of the report of reads. */
  readonly days?: number;
}

export const PERIODS = [1, 7, 30, 90] as const;

export const auditSearchOf = ({ verification, days }: Readonly<Record<string, unknown>>): AuditSearch => ({
  ...(typeof verification === "string" && verification !== "" && { verification }),
  ...(PERIODS.some((period) => period === days) && { days: days as number }),
});
