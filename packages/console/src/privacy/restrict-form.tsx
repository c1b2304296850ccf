import type { Answer } from "@device-risk-signals/admin-api";
import { type FormEvent, useState } from "react";
import { call, queryClient, useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { formText } from "./form-text.ts";
import { Progress } from "./progress.tsx";
import { useChange } from "./use-change.ts";
import { countOf, LONG_ENOUGH } from "./words.ts";

interface RestrictProps {
  /** Absent: the form asks for it. */
  readonly account?: string;
  /** Of the GDPR. Absent: the form asks for it. */
  readonly article?: 18 | 21;
  /** The request that asks for it. Absent: the form asks who decided it. */
  readonly requestId?: string;
  readonly restricted: (answer: Answer<"addRestriction">) => void;
}

/** Excludes the events of an account from analysis: first how many, then permanently. */
export function RestrictForm({ account, article, requestId, restricted }: RestrictProps) {
  const canChange = useScope("governance.change") !== undefined;
  const { data: purposes } = useRead("listPurposes", {}, canChange);
  const [hidden, setHidden] = useState<number>();
  const change = useChange(async ({ form, isDryRun }: { readonly form: FormData; readonly isDryRun: boolean }) => {
    const purpose = formText(form, "purpose");
    const answer = await call("addRestriction", {
      account: account ?? formText(form, "account") ?? "",
      article: article ?? (formText(form, "article") === "21" ? 21 : 18),
      reason: requestId === undefined ? (formText(form, "reason") ?? "") : `request ${requestId}`,
      ...(purpose !== undefined && { purpose }),
      ...(requestId === undefined ? { approver: formText(form, "approver") ?? "" } : { request_id: requestId }),
      ...(isDryRun && { dry_run: true }),
    });
    if (isDryRun) return setHidden(answer.events);
    await queryClient.invalidateQueries({ queryKey: ["listRestrictions"] });
    restricted(answer);
  });
  if (!canChange) return <Forbidden permission="governance.change" what="A restriction" />;
  const submit = (submitted: FormEvent<HTMLFormElement>): void => {
    submitted.preventDefault();
    void change.run({ form: new FormData(submitted.currentTarget), isDryRun: hidden === undefined });
  };
  return (
    <form className="form order" onSubmit={submit} onChange={() => setHidden(undefined)}>
      {account === undefined && (
        <label>
          Account
          <input name="account" className="input" required maxLength={256} autoComplete="off" spellCheck={false} />
        </label>
      )}
      {article === undefined && (
        <label>
          Why
          <select name="article" className="input">
            <option value="18">The person asks for a restriction (article 18)</option>
            <option value="21">The person objects (article 21)</option>
          </select>
        </label>
      )}
      <label>
        For
        <select name="purpose" className="input">
          <option value="">all purposes</option>
          {purposes?.purposes.map(({ id, title }) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {requestId === undefined && (
        <div className="form-row">
          <label>
            Reason
            <input name="reason" className="input" required minLength={8} maxLength={1_000} />
            <span className="hint">{LONG_ENOUGH}.</span>
          </label>
          <label>
            Who decided it
            <input name="approver" className="input" required maxLength={256} />
          </label>
        </div>
      )}
      {hidden !== undefined && (
        <p role="status">
          <strong>{countOf(hidden, "stored event")}</strong> and all later ones are hidden from analysts. Clients notice
          nothing.
        </p>
      )}
      <button type="submit" className="button primary" disabled={change.isRunning}>
        {hidden === undefined ? "Show what it hides" : `Hide ${countOf(hidden, "event")}`}
      </button>
      <Progress change={change} failed="Nothing was restricted" />
    </form>
  );
}
