import { InvalidArgumentError } from "commander";
import { isReason, reasonRule } from "../audit/reason.ts";
import { readSetting } from "../base/config/config.ts";
import type { Context } from "./context.ts";

/** Returns the reader of a `--reason`, which trims the text. Its exceptions are usage errors: exit code 2. */
export function reasonReader({ environment }: Context): (text: string) => string {
  // If the variable has an invalid value, this is the default. `loadConfig` reports the value.
  const minLength = readSetting("service.reasonMinLength", environment);
  return (text) => {
    const reason = text.trim();
    if (isReason(reason, minLength)) return reason;
    throw new InvalidArgumentError(reasonRule(minLength));
  };
}
