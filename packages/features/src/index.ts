export {
  anyTrue,
  category,
  count,
  countTrue,
  dayNumber,
  dayOfEpochMs,
  equalAscii,
  feature,
  field,
  flag,
  lowerAscii,
  number,
  whenObserved,
} from "./definition/kit.ts";
export type { Definition, Inputs, ReadingsOf } from "./definition/feature.ts";
export type { FieldInput, FieldPath, FieldTypes } from "./definition/field.ts";
export type { Category, Count, Flag, Quantity } from "./definition/outputs.ts";
export type { Bundle, InputPath, Manifest, ManifestInput, Output } from "./manifest.ts";
export type { JsonType, Observed, Reading, ReadingState, Unobserved } from "./reading.ts";
export {
  type Failure,
  FAILURES,
  type FeatureValue,
  type InputState,
  inputStateOf,
  type Result,
  RESULT_STATES,
  type ResultState,
  sharedState,
} from "./result.ts";
