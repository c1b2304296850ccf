import { CATEGORIES } from "@device-risk-signals/admin-api/categories";
import type { Event, Input } from "@device-risk-signals/admin-api";
import { type FormEvent, useState } from "react";
import { call } from "../app/api.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Time } from "../ui/time.tsx";
import { type Case, forgetCases } from "./use-case.tsx";

interface OpenCaseProps {
  readonly event: Event;
  /** Whether the case must cover the account, because events are compared. */
  readonly isForAccount: boolean;
  readonly close: () => void;
  readonly opened: (opened: Case) => void;
}

/** Asks why, before observations of a person's device are read. */
export function OpenCaseDialog({ event, isForAccount, close, opened }: OpenCaseProps) {
  const [error, setError] = useState<unknown>();
  const [isOpening, setOpening] = useState(false);
  const open = async (submitted: FormEvent<HTMLFormElement>): Promise<void> => {
    submitted.preventDefault();
    const form = new FormData(submitted.currentTarget);
    const text = (name: string): string => {
      const value = form.get(name);
      return typeof value === "string" ? value.trim() : "";
    };
    const ticket = text("ticket");
    const covered = text("covers") === "event" ? { event_id: event.event_id } : { account: event.account };
    setOpening(true);
    setError(undefined);
    try {
      const category = text("category") as Input<"openCase">["category"];
      const wanted = { category, reason: text("reason"), ...(ticket !== "" && { ticket }), ...covered };
      const one = await call("openCase", wanted);
      await forgetCases();
      opened(one);
    } catch (thrown) {
      setError(thrown);
      setOpening(false);
    }
  };
  return (
    <Dialog title="Why do you open this?" close={close}>
      <form className="form" onSubmit={(submitted) => void open(submitted)}>
        <p className="quiet">
          Observations describe a person's device. The case lasts 8 hours; the audit log keeps your name, this reason
          and each event that you open longer than that.
        </p>
        <label>
          Reason
          <textarea name="reason" className="input" required minLength={8} maxLength={1_000} rows={2} />
        </label>
        <div className="form-row">
          <label>
            Ticket
            <input name="ticket" className="input" maxLength={128} placeholder="optional, such as FR-4711" />
          </label>
          <label>
            Kind
            <select name="category" className="input">
              {CATEGORIES.map((category) => (
                <option key={category}>{category}</option>
              ))}
            </select>
          </label>
        </div>
        <fieldset>
          <legend>Covers</legend>
          <label className="radio">
            <input type="radio" name="covers" value="account" defaultChecked />{" "}
            <span>
              all events of account <Foreign text={event.account} />, to compare them
            </span>
          </label>
          <label className="radio">
            <input type="radio" name="covers" value="event" disabled={isForAccount} />{" "}
            <span>
              this event alone: <Foreign text={event.action_type} /> on {event.platform},{" "}
              <Time at={event.received_at} isShort /> UTC
            </span>
          </label>
        </fieldset>
        {error !== undefined && <Failure error={error} what="The case was not opened" />}
        <button type="submit" className="button primary" disabled={isOpening}>
          Open
        </button>
      </form>
    </Dialog>
  );
}
