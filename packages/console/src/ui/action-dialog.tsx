import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { Dialog } from "./dialog.tsx";
import { Failure } from "./failure.tsx";

interface ActionDialogProps {
  readonly title: string;
  readonly children?: ReactNode;
  /** The words of the button, such as "End the session". */
  readonly action: string;
  /** What could not be done; a sentence without its period. */
  readonly failed: string;
  /** The label of the field for a reason. Absent: no reason is asked for. */
  readonly reason?: { readonly label: string; readonly isRequired: boolean; readonly hint: string };
  readonly run: (reason: string | undefined) => Promise<void>;
  readonly close: () => void;
  /** What to show in place of an error. `undefined`: its words. */
  readonly explain?: (error: unknown, again: () => void) => ReactNode;
}

/** Asks before something is decided, ended or revoked. It stays open until it is done, and keeps what was typed. */
export function ActionDialog(props: ActionDialogProps) {
  const { title, children, action, failed, reason, run, close, explain } = props;
  const [error, setError] = useState<unknown>();
  const [isRunning, setRunning] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const act = async (): Promise<void> => {
    const text = field.current?.value.trim() ?? "";
    setRunning(true);
    setError(undefined);
    try {
      await run(text === "" ? undefined : text);
      close();
    } catch (thrown) {
      setError(thrown);
    }
    setRunning(false);
  };
  const submit = (submitted: FormEvent<HTMLFormElement>): void => {
    submitted.preventDefault();
    void act();
  };
  const explained = error === undefined ? undefined : explain?.(error, () => void act());
  return (
    <Dialog title={title} close={close}>
      <form className="form" onSubmit={submit}>
        {children}
        {reason && (
          <label>
            {reason.label}
            <textarea
              ref={field}
              className="input"
              rows={2}
              required={reason.isRequired}
              maxLength={1_000}
              aria-describedby="reason-hint"
            />
          </label>
        )}
        {reason && (
          <p id="reason-hint" className="quiet small">
            {reason.hint}
          </p>
        )}
        {explained}
        {error !== undefined && explained === undefined && <Failure error={error} what={failed} />}
        {explained === undefined && (
          <button type="submit" className="button primary" disabled={isRunning}>
            {action}
          </button>
        )}
      </form>
    </Dialog>
  );
}
