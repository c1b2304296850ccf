import { type FormEvent, useState } from "react";
import { call } from "../app/api.ts";
import { useScope } from "../app/session.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { formText } from "./form-text.ts";
import { Progress } from "./progress.tsx";
import { forgetRequests } from "./register-request.tsx";
import { useChange } from "./use-change.ts";
import { type DataRequest, LONG_ENOUGH } from "./words.ts";

/** Two further months, once, with a reason (GDPR, article 12 (3)). */
export function ExtendRequest({ request }: { readonly request: DataRequest }) {
  const canChange = useScope("governance.change") !== undefined;
  const [isAsking, setAsking] = useState(false);
  const change = useChange(async (reason: string) => {
    await call("extendRequest", { request_id: request.request_id, reason });
    await forgetRequests();
    setAsking(false);
  });
  if (!canChange) return null;
  const extend = (submitted: FormEvent<HTMLFormElement>): void => {
    submitted.preventDefault();
    void change.run(formText(new FormData(submitted.currentTarget), "reason") ?? "");
  };
  return (
    <>
      {" "}
      <button type="button" className="link-button" onClick={() => setAsking(true)}>
        Extend
      </button>
      {isAsking && (
        <Dialog title="Extend by two months" close={() => setAsking(false)}>
          <form className="form" onSubmit={extend}>
            <p className="quiet">Once, and only for a complex request or many of them. Tell the person why.</p>
            <label>
              Reason
              <textarea name="reason" className="input" required minLength={8} maxLength={1_000} rows={2} />
              <span className="hint">{LONG_ENOUGH}.</span>
            </label>
            <Progress change={change} failed="The request was not extended" />
            <button type="submit" className="button primary" disabled={change.isRunning}>
              Extend
            </button>
          </form>
        </Dialog>
      )}
    </>
  );
}
