import { boolean, number, type Probe } from "./declare.ts";
import { DIAGNOSTICS } from "./disclosure.ts";

export const numericConsistency: Probe = {
  id: "numeric_consistency",
  title: "Numeric consistency",
  meaning:
    "Whether fixed calculations come out as they must. Deviations point to translation, emulation or a patched engine.",
  platforms: ["android", "ios"],
  enabledByDefault: false,
  disclosure: DIAGNOSTICS,
  fields: {
    integerVectorMatches: boolean("All results of the fixed integer calculations are the expected ones."),
    integerMismatchCount: number("count", "Integer calculations whose result is not the expected one."),
    floatSampleCount: number("count", "Floating-point calculations that were compared."),
    floatMismatchCount: number(
      "count",
      "Floating-point calculations whose result differs from the expected one; correct maths libraries may give different results.",
    ),
    floatMaxAbsoluteDifference: number(
      "none",
      "Largest absolute difference among the floating-point results; 0 means that all agree.",
    ),
    signedZeroPreserved: boolean("Negative zero keeps its sign; false means that it was lost."),
    subnormalPreserved: boolean("Subnormal numbers keep their value; false means that they were flushed to zero."),
  },
};
