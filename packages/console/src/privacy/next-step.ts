import { AdminRequestError } from "@device-risk-signals/admin-api/client";
import type { Change } from "./use-change.ts";

export const isStepUpRequired = (error: unknown): boolean =>
  error instanceof AdminRequestError && error.code === "step-up-required";

export const isApprovalNeeded = (error: unknown): error is AdminRequestError =>
  error instanceof AdminRequestError && error.problem?.code === "approval-needed";

/** Whether a change runs, or waits for a sign-in or another person: it can't be ordered once more. */
export const isUnderWay = <Asked>({ isRunning, error }: Change<Asked>): boolean =>
  isRunning || isStepUpRequired(error) || isApprovalNeeded(error);
