export { type Definition, feature, type Inputs, type ReadingsOf } from "./definition/feature.ts";
export { field, type FieldInput, type FieldPath, type FieldTypes } from "./definition/field.ts";
export {
  type Category,
  category,
  type Count,
  count,
  type Flag,
  flag,
  number,
  type Quantity,
} from "./definition/outputs.ts";
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
