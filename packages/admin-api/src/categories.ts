/** Kinds of cases. */
export const CATEGORIES = [
  "dispute",
  "fraud-investigation",
  "security-incident",
  "data-subject-request",
  "debugging",
  "legal-order",
] as const;
