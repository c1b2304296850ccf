import type { Input } from "@device-risk-signals/admin-api";
import { type FormEvent, useState } from "react";
import { call, queryClient } from "../app/api.ts";
import { useScope } from "../app/session.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { formText } from "./form-text.ts";
import { isUnderWay } from "./next-step.ts";
import { Progress } from "./progress.tsx";
import { useChange } from "./use-change.ts";
import { countOf, LONG_ENOUGH, tomorrow } from "./words.ts";

const SUBJECTS = { account: "Account", action_id: "Action", event_id: "Event" } as const;

function inputOf(form: FormData): Input<"addHold"> {
  const subject = formText(form, "subject") as keyof typeof SUBJECTS;
  return {
    [subject]: formText(form, "id") ?? "",
    reason: formText(form, "reason") ?? "",
    approver: formText(form, "approver") ?? "",
    review_on: formText(form, "review") ?? "",
  };
}

/** Places a hold: first how many events it covers, then permanently. */
export function PlaceHold({ close }: { readonly close: () => void }) {
  const isProposal = useScope("holds.place") === "with-approval";
  const [covered, setCovered] = useState<number>();
  const change = useChange(async ({ form, isDryRun }: { readonly form: FormData; readonly isDryRun: boolean }) => {
    const { events } = await call("addHold", { ...inputOf(form), ...(isDryRun && { dry_run: true }) });
    if (isDryRun) return setCovered(events);
    await queryClient.invalidateQueries({ queryKey: ["listHolds"] });
    close();
  });
  const submit = (submitted: FormEvent<HTMLFormElement>): void => {
    submitted.preventDefault();
    void change.run({ form: new FormData(submitted.currentTarget), isDryRun: covered === undefined });
  };
  return (
    <Dialog title={isProposal ? "Propose a hold" : "Place a hold"} close={close}>
      <form className="form" onSubmit={submit} onChange={() => setCovered(undefined)}>
        <div className="form-row">
          <label>
            Keeps the events of
            <select name="subject" className="input">
              {Object.entries(SUBJECTS).map(([subject, name]) => (
                <option key={subject} value={subject}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <label>
            Its id
            <input name="id" className="input" required maxLength={256} autoComplete="off" spellCheck={false} />
          </label>
        </div>
        <label>
          Reason
          <input name="reason" className="input" required minLength={8} maxLength={1_000} />
          <span className="hint">
            {LONG_ENOUGH}, such as the number of the dispute. Write no name: this text is kept for ever.
          </span>
        </label>
        <div className="form-row">
          <label>
            Who decided it
            <input name="approver" className="input" required maxLength={256} />
          </label>
          <label>
            Next review
            <input name="review" type="date" className="input" required min={tomorrow()} />
          </label>
        </div>
        {covered !== undefined && (
          <p role="status">
            It covers <strong>{countOf(covered, "event")}</strong> now, and later ones. None is deleted until it ends.
          </p>
        )}
        <Progress change={change} failed="The hold was not placed" />
        <button type="submit" className="button primary" disabled={isUnderWay(change)}>
          {covered === undefined ? "Show what it covers" : isProposal ? "Propose the hold" : "Place the hold"}
        </button>
      </form>
    </Dialog>
  );
}
