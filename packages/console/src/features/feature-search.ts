/** How the distribution of a feature is grouped. */
export const BYS = {
  all: "All",
  platform: "Platform",
  sdk_version: "SDK version",
  "platform,sdk_version": "Both",
} as const;

export type By = keyof typeof BYS;

export const featureSearchOf = ({ by }: Readonly<Record<string, unknown>>): { by?: By } =>
  typeof by === "string" && Object.hasOwn(BYS, by) && by !== "all" ? { by: by as By } : {};
