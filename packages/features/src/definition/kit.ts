/** What definitions import at run time. The bundler resolves the package's name to this file. */
export { anyTrue, countTrue, whenObserved } from "./answers.ts";
export { dayNumber, dayOfEpochMs, equalAscii, lowerAscii } from "./exact.ts";
export { feature } from "./feature.ts";
export { field } from "./field.ts";
export { category, count, flag, number } from "./outputs.ts";
