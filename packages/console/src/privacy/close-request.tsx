import type { Input } from "@device-risk-signals/admin-api";
import { AdminRequestError } from "@device-risk-signals/admin-api/client";
import { type FormEvent, useState } from "react";
import { call } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { formText } from "./form-text.ts";
import { Progress } from "./progress.tsx";
import { forgetRequests } from "./register-request.tsx";
import { useChange } from "./use-change.ts";
import { type DataRequest, LONG_ENOUGH } from "./words.ts";

interface CloseProps {
  readonly request: DataRequest;
  /** What answered it, if this page knows; otherwise the server links the only one. */
  readonly erasureId?: string | undefined;
  readonly exportId?: string | undefined;
  /** How the identity was checked, if this page asked for it before what can't be undone. */
  readonly identity?: string | undefined;
  /** The step without which the server refuses the end, such as "Export what is stored". */
  readonly before?: string;
  /** Whether a hold keeps a part of what was erased. */
  readonly isHeld?: boolean;
}

type Outcome = "done" | "partly" | "refused";

/** Ends a request. What answered it is linked by itself, and the name of the account is deleted from it. */
export function CloseRequest({ request, erasureId, exportId, identity: checked, before, isHeld = false }: CloseProps) {
  const canChange = useScope("governance.change") !== undefined;
  const answered: Outcome = isHeld ? "partly" : "done";
  const [isRefused, setRefused] = useState(false);
  const outcome = isRefused ? "refused" : answered;
  const change = useChange(async (asked: Omit<Input<"closeRequest">, "request_id">) => {
    await call("closeRequest", { request_id: request.request_id, ...asked });
    await forgetRequests();
  });
  if (!canChange) return <Forbidden permission="governance.change" what="The end of a request" />;
  const close = (submitted: FormEvent<HTMLFormElement>): void => {
    submitted.preventDefault();
    const form = new FormData(submitted.currentTarget);
    const identity = checked ?? formText(form, "identity");
    const reason = formText(form, "reason");
    const isLinked = outcome !== "refused";
    void change.run({
      outcome,
      ...(identity !== undefined && { identity }),
      ...(reason !== undefined && { reason }),
      ...(isLinked && erasureId !== undefined && { erasure_id: erasureId }),
      ...(isLinked && exportId !== undefined && { export_id: exportId }),
    });
  };
  const isAnswered = erasureId !== undefined || exportId !== undefined || request.restriction_id !== null;
  const needsIdentity = request.identity === null && checked === undefined && !isRefused && request.closed_at === null;
  return (
    <form className="form order" onSubmit={close}>
      {needsIdentity && (
        <label>
          How you checked the identity
          <input name="identity" className="input" required maxLength={1_000} />
        </label>
      )}
      {isRefused && (
        <label>
          Why it is refused
          <input name="reason" className="input" required minLength={8} maxLength={1_000} autoFocus />
          <span className="hint">{LONG_ENOUGH}. Write no name: this text is kept.</span>
        </label>
      )}
      <p className="quiet">{WORDS[outcome]}</p>
      <div className="buttons">
        <button
          type="submit"
          className={isAnswered || isRefused ? "button primary" : "button"}
          disabled={change.isRunning}
        >
          {BUTTONS[outcome]}
        </button>
        {request.closed_at === null && (
          <button type="button" className="button quiet-button" onClick={() => setRefused(!isRefused)}>
            {isRefused ? "It is not refused" : "Refuse it instead"}
          </button>
        )}
      </div>
      {before !== undefined && !isAnswered && !change.isRunning && isConflict(change.error) ? (
        <NotYet before={before} error={change.error} />
      ) : (
        <Progress change={change} failed="The request was not closed" />
      )}
    </form>
  );
}

const isConflict = (error: unknown): error is AdminRequestError =>
  error instanceof AdminRequestError && error.code === "state-conflict";

const NotYet = ({ before, error }: { readonly before: string; readonly error: AdminRequestError }) => (
  <div className="failure" role="alert">
    <p>
      <strong>The request was not closed.</strong> First do the step “{before}” above.
    </p>
    <details>
      <summary>What the server says</summary>
      <p className="foreign">{error.message}</p>
    </details>
  </div>
);

const BUTTONS = { done: "Close as done", partly: "Close as done in part", refused: "Close as refused" } as const;

const WORDS = {
  done: "The erasure, export or restriction that answered it is linked by itself; the name of the account is deleted here.",
  partly: "A hold keeps a part. When it has ended, this request is listed as open again until you close it as done.",
  refused: "The reason is kept. The name of the account is deleted here.",
} as const;
