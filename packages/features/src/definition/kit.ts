/**
 * The values, not types, that definitions can import from the package. When a definition is bundled, the package's name
 * resolves to this file.
 */
export { anyTrue, countTrue, whenObserved } from "./answers.ts";
export { dayNumber, dayOfEpochMs, equalAscii, lowerAscii } from "./exact.ts";
export { feature } from "./feature.ts";
export { field } from "./field.ts";
export { category, count, flag, number } from "./outputs.ts";
