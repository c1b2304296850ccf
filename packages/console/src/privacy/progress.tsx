import { Failure } from "../ui/failure.tsx";
import { visible } from "../ui/foreign.tsx";
import { StepUp } from "../sign-in/step-up.tsx";
import { isApprovalNeeded, isStepUpRequired } from "./next-step.ts";
import type { Change } from "./use-change.ts";
import { WaitForApproval } from "./wait-for-approval.tsx";

interface ProgressProps<Asked> {
  readonly change: Change<Asked>;
  /** What did not happen; a sentence without its period. */
  readonly failed: string;
}

/** How far a change is, or what must happen first: a proof, a second person, or another try. */
export function Progress<Asked>({ change: { isRunning, progress, error, again }, failed }: ProgressProps<Asked>) {
  if (isRunning) {
    return (
      <p className="working" role="status">
        Working… {progress !== undefined && <span className="quiet">{visible(progress)}</span>}
      </p>
    );
  }
  if (error === undefined) return null;
  const retry = (): void => void again();
  if (isStepUpRequired(error)) return <StepUp again={retry} />;
  if (isApprovalNeeded(error)) return <WaitForApproval error={error} again={retry} />;
  return <Failure error={error} what={failed} again={retry} />;
}
