import { type FormEvent, useState } from "react";
import { call, queryClient } from "../app/api.ts";
import { Dialog } from "../ui/dialog.tsx";
import { formText } from "./form-text.ts";
import { Progress } from "./progress.tsx";
import { useChange } from "./use-change.ts";
import { countOf, LONG_ENOUGH, type Restriction } from "./words.ts";

/** Ends a restriction, after the person was informed: first what analysts see again, then permanently. */
export function LiftRestriction({ restriction: { restriction_id } }: { readonly restriction: Restriction }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        End
      </button>
      {isOpen && (
        <Dialog title="End the restriction" close={() => setOpen(false)}>
          <Lift id={restriction_id} close={() => setOpen(false)} />
        </Dialog>
      )}
    </>
  );
}

function Lift({ id, close }: { readonly id: string; readonly close: () => void }) {
  const [released, setReleased] = useState<number>();
  const change = useChange(async ({ form, isDryRun }: { readonly form: FormData; readonly isDryRun: boolean }) => {
    const { events } = await call("liftRestriction", {
      restriction_id: id,
      informed_on: formText(form, "informed") ?? "",
      reason: formText(form, "reason") ?? "",
      ...(isDryRun && { dry_run: true }),
    });
    if (isDryRun) return setReleased(events);
    await queryClient.invalidateQueries({ queryKey: ["listRestrictions"] });
    close();
  });
  const submit = (submitted: FormEvent<HTMLFormElement>): void => {
    submitted.preventDefault();
    void change.run({ form: new FormData(submitted.currentTarget), isDryRun: released === undefined });
  };
  return (
    <form className="form" onSubmit={submit} onChange={() => setReleased(undefined)}>
      <label>
        The person was informed on
        <input name="informed" type="date" className="input" required max={new Date().toISOString().slice(0, 10)} />
        <span className="hint">Inform them before you end it (GDPR, article 18 (3)).</span>
      </label>
      <label>
        Reason
        <input name="reason" className="input" required minLength={8} maxLength={1_000} autoComplete="off" />
        <span className="hint">{LONG_ENOUGH}.</span>
      </label>
      {released !== undefined && (
        <p role="status">
          Analysts see <strong>{countOf(released, "event")}</strong> again.
        </p>
      )}
      <Progress change={change} failed="The restriction was not ended" />
      <button type="submit" className="button primary" disabled={change.isRunning}>
        {released === undefined ? "Show what analysts see again" : "End the restriction"}
      </button>
    </form>
  );
}
