/** Schemas of parameters and answers that several routes of features share. */
import { Type } from "typebox";
import { count, nonEmptyText, nullable, shape, shownText } from "./schemas.ts";

export const featureName = Type.String({
  pattern: "^[a-z][a-z0-9_]{0,63}@[1-9][0-9]{0,8}$",
  description: "A version of a feature, `id@version`.",
});
export const purpose = nonEmptyText(64, "Purpose, by its id.");

export const decision = shape("Decision", {
  decision: count(),
  kind: shownText(),
  features: Type.Array(shownText()),
  purpose: nullable(shownText()),
  decided_at: shownText(),
  decided_by: shownText(),
  reason: shownText(),
  evidence: Type.Unknown({ description: "What was known about the inputs at the time of the decision." }),
});

export const featureValue = Type.Union([Type.Boolean(), Type.Number(), Type.String(), Type.Null()]);
