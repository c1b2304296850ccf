import { InvalidArgumentError } from "commander";

const FEATURE_VERSION = /^[a-z][a-z0-9_]{0,63}@[1-9]\d{0,8}$/;

/** Reads the name of one version of a feature, such as `root_traces@2`. */
export function featureName(text: string): string {
  if (!FEATURE_VERSION.test(text))
    throw new InvalidArgumentError("It must be an id and a version, such as root_traces@2.");
  return text;
}
