import { type FormEvent, useState } from "react";
import { call, queryClient } from "../app/api.ts";
import { Dialog } from "../ui/dialog.tsx";
import { visible } from "../ui/foreign.tsx";
import { formText } from "./form-text.ts";
import { isUnderWay } from "./next-step.ts";
import { Progress } from "./progress.tsx";
import { useChange } from "./use-change.ts";
import { countOf, type Hold, LONG_ENOUGH, subjectOf } from "./words.ts";

/** To look needs no reason of the person; the audit log has these words. */
const TO_LOOK = "to see what the end of the hold releases";

/** Ends a hold: first what only this hold keeps, then permanently. */
export function LiftHold({ hold }: { readonly hold: Hold }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        End
      </button>
      {isOpen && (
        <Dialog title={visible(`End the hold on ${subjectOf(hold)} (${hold.reason})`)} close={() => setOpen(false)}>
          <Lift holdId={hold.hold_id} close={() => setOpen(false)} />
        </Dialog>
      )}
    </>
  );
}

function wordsOfButton(released: number | undefined): string {
  if (released === undefined) return "Show what it releases";
  return released === 0 ? "End it" : `End it and release ${countOf(released, "event")}`;
}

function Lift({ holdId, close }: { readonly holdId: string; readonly close: () => void }) {
  const [released, setReleased] = useState<number>();
  const change = useChange(async ({ reason, isDryRun }: { readonly reason: string; readonly isDryRun: boolean }) => {
    const asked = { hold_id: holdId, reason, ...(isDryRun && { dry_run: true }) };
    const { events_released } = await call("liftHold", asked);
    if (isDryRun) return setReleased(events_released);
    await queryClient.invalidateQueries({ queryKey: ["listHolds"] });
    close();
  });
  const submit = (submitted: FormEvent<HTMLFormElement>): void => {
    submitted.preventDefault();
    const reason = formText(new FormData(submitted.currentTarget), "reason") ?? TO_LOOK;
    void change.run({ reason, isDryRun: released === undefined });
  };
  return (
    <form className="form" onSubmit={submit}>
      {released !== undefined && (
        <p role="status">
          <strong>{countOf(released, "event")}</strong>{" "}
          {released === 0
            ? "are kept by this hold alone: nothing is deleted."
            : "that only this hold keeps become unreadable at once, and are then deleted."}
        </p>
      )}
      {released === undefined ? (
        <p className="quiet">Nothing ends yet: the next step shows what is deleted, and asks for the reason.</p>
      ) : (
        <label>
          Reason
          <input
            name="reason"
            className="input"
            required
            minLength={8}
            maxLength={1_000}
            autoComplete="off"
            autoFocus
          />
          <span className="hint">
            {LONG_ENOUGH}, such as: dispute 4711 is closed. Write no name: this text is kept for ever.
          </span>
        </label>
      )}
      <Progress change={change} failed="The hold was not ended" />
      <button
        type="submit"
        className={released === undefined ? "button primary" : "button danger"}
        disabled={isUnderWay(change)}
      >
        {wordsOfButton(released)}
      </button>
    </form>
  );
}
