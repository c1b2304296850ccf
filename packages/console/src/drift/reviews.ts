import type { Seen } from "./adoption.ts";

/** The state of a review in words. */
export const REVIEWS: Readonly<Record<Seen["review"], string>> = {
  open: "to be reviewed",
  accepted: "accepted",
  ignored: "ignored",
  rejected: "rejected",
};
