import { OperatorError } from "../../errors/operator-error.ts";

/** A command on an external database reads payloads or destroys data without `--break-glass`. */
export const needsBreakGlass = (): OperatorError =>
  new OperatorError(
    "wrong-usage",
    "On an external database this command needs the admin API: run drs login. Without it, --break-glass uses the owner's login, opens a review, and signs a checkpoint of the audit.",
  );
