import { type FormEvent, useState } from "react";
import { call, queryClient } from "../app/api.ts";
import { Dialog } from "../ui/dialog.tsx";
import { formText } from "./form-text.ts";
import { Progress } from "./progress.tsx";
import { useChange } from "./use-change.ts";
import { type Hold, tomorrow } from "./words.ts";

/** Records that somebody asked whether a hold is still needed, and when to ask again. */
export function ReviewHold({ hold }: { readonly hold: Hold }) {
  const [isOpen, setOpen] = useState(false);
  const change = useChange(async (form: FormData) => {
    await call("reviewHold", {
      hold_id: hold.hold_id,
      review_on: formText(form, "review") ?? "",
      approver: formText(form, "approver") ?? "",
    });
    await queryClient.invalidateQueries({ queryKey: ["listHolds"] });
    setOpen(false);
  });
  const submit = (submitted: FormEvent<HTMLFormElement>): void => {
    submitted.preventDefault();
    void change.run(new FormData(submitted.currentTarget));
  };
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        Review
      </button>
      {isOpen && (
        <Dialog title="The hold is still needed" close={() => setOpen(false)}>
          <form className="form" onSubmit={submit}>
            <div className="form-row">
              <label>
                Who decided it
                <input name="approver" className="input" required maxLength={256} defaultValue={hold.approver} />
              </label>
              <label>
                Next review
                <input name="review" type="date" className="input" required min={tomorrow()} />
              </label>
            </div>
            <Progress change={change} failed="The review was not recorded" />
            <button type="submit" className="button primary" disabled={change.isRunning}>
              Record the review
            </button>
          </form>
        </Dialog>
      )}
    </>
  );
}
