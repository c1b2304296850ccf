import { category, feature, field, whenObserved } from "@device-risk-signals/features";

export const obscuredTouches = feature({
  id: "obscured_touches",
  version: 1,
  owner: "fraud team",
  meaning: "Whether a touch came through another window, of the examined touches; Android",
  falseReadings: [
    "Screen filters, chat bubbles and one-handed modes lie over other apps",
    "Without a touch since the start nothing was examined",
  ],
  purposes: ["payments"],
  inputs: {
    touches: field("transaction_safety.observedTouchCount"),
    obscured: field("transaction_safety.obscuredTouchObserved"),
    partly: field("transaction_safety.partiallyObscuredTouchObserved"),
  },
  output: category(["none-examined", "obscured", "partially-obscured", "clear"]),
  compute: ({ touches, obscured, partly }) =>
    whenObserved([touches, obscured, partly], (count, isObscured, isPartly) => {
      if (count === 0) return "none-examined";
      if (isObscured) return "obscured";
      return isPartly ? "partially-obscured" : "clear";
    }),
  fixtures: "./obscured-touches.fixtures.json",
});
