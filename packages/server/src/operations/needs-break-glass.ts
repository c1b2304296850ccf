import { OperatorError } from "../base/errors/operator-error.ts";

/** The error of a command that would read payloads or destroy data on an external database without `--break-glass`. */
export const needsBreakGlass = (): OperatorError =>
  new OperatorError(
    "wrong-usage",
    "On an external database this command needs the admin API: run drs login. Without it, --break-glass uses the owner's login, opens a review, and signs a checkpoint of the audit.",
  );
