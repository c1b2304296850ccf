/** Schemas of parameters and answers that several routes of features share. */
import { Type } from "typebox";
import { count, nonEmptyText, nullable, object, shape, shownText } from "./schemas.ts";

export const featureName = Type.String({
  pattern: "^[a-z][a-z0-9_]{0,63}@[1-9][0-9]{0,8}$",
  description: "A version of a feature, `id@version`.",
});
export const purpose = nonEmptyText(64, "Purpose, by its id.");

const ofVersion = { platform: shownText(), sdk_version: shownText() };
export const evidence = shape("Evidence", {
  days: count("Days before the decision."),
  events: count("The number of the newest events of the purpose that were read."),
  is_limited: Type.Boolean({ description: "Whether there are more events in these days." }),
  coverage: Type.Array(
    shape("InputCoverage", {
      ...ofVersion,
      field: shownText("An input."),
      states: Type.Record(Type.String(), count(), { description: "How often it had each state." }),
    }),
  ),
  refused: Type.Array(
    shape("RefusingVersion", {
      ...ofVersion,
      events: count("Events of all purposes."),
      refused: count("Events that ingestion would have refused."),
    }),
  ),
});
export const equivalentProgram = shape("EquivalentProgram", {
  feature: shownText("`id@version`."),
  hash: shownText("SHA-256 of the identity of the given program, in hexadecimal."),
  archived_hash: shownText(),
  events: count("Stored events for which both gave the same result."),
  cases: count("Archived fixtures, and cases that are derived from them."),
});
const equivalence = shape("EquivalenceEvidence", {
  programs: Type.Array(equivalentProgram),
  unreadable: count("Events that could not be opened."),
});

export const decision = shape("Decision", {
  decision: count(),
  kind: shownText(),
  features: Type.Array(shownText()),
  purpose: nullable(shownText()),
  decided_at: shownText(),
  decided_by: shownText(),
  reason: shownText(),
  evidence: Type.Union([evidence, equivalence, object({})], {
    description: "What was known at the time of the decision; nothing for a retirement.",
  }),
});

export const featureValue = Type.Union([Type.Boolean(), Type.Number(), Type.String(), Type.Null()]);
