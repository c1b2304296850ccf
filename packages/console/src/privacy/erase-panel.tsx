import type { Answer, Input } from "@device-risk-signals/admin-api";
import { AdminRequestError } from "@device-risk-signals/admin-api/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { call, keyOf, queryClient, useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { formText } from "./form-text.ts";
import { isUnderWay } from "./next-step.ts";
import { Progress } from "./progress.tsx";
import { Receipt } from "./receipt.tsx";
import { useChange } from "./use-change.ts";
import { countOf, dateOf, LONG_ENOUGH } from "./words.ts";

type Plan = Answer<"planErasure">;
export type Erased = Answer<"runErasure">;

interface ErasePanelProps {
  readonly account: string;
  /** Given by a request; otherwise the person writes it. */
  readonly reason?: string;
  readonly erased?: (erased: Erased) => void;
  /** The reason that was typed before the page was loaded again. */
  readonly draft?: string | undefined;
  readonly ordered?: (reason: string) => void;
}

/** The erasure of an account: what it would do, why, who approves, and its proof. */
export function ErasePanel({ account, reason, erased, draft, ordered }: ErasePanelProps) {
  const {
    data: plan,
    dataUpdatedAt: countedAt,
    error,
    refetch,
  } = useQuery({
    queryKey: keyOf("planErasure", { account }),
    queryFn: () => call("planErasure", { account }),
    // A person decides by these numbers, so each visit counts again.
    gcTime: 0,
  });
  const [isInBackups, setInBackups] = useState(false);
  const [done, setDone] = useState<Erased>();
  if (done) return <Done done={done} />;
  const isUnknown = error instanceof AdminRequestError && error.status === 404;
  if (isUnknown && !isInBackups) {
    return (
      <div className="empty">
        <h3>Nothing is stored of this account</h3>
        <p>
          Check the spelling. If only a backup can have data of it, an erasure makes sure that they do not come back.
        </p>
        <button type="button" className="button" onClick={() => setInBackups(true)}>
          Erase what backups have
        </button>
      </div>
    );
  }
  if (error && !isUnknown) return <Failure error={error} what="The plan can't be made" again={() => void refetch()} />;
  if (!plan && !isUnknown) return <Skeleton lines={5} />;
  const show = (answer: Erased): void => {
    setDone(answer);
    erased?.(answer);
  };
  return (
    <>
      {plan && <PlanOf plan={plan} account={account} countedAt={countedAt} />}
      <Order {...{ account, reason, plan, isUnknown, draft, ordered }} erased={show} />
    </>
  );
}

interface PlanProps {
  readonly plan: Plan;
  readonly account: string;
  /** In milliseconds since the Unix epoch. */
  readonly countedAt: number;
}

function PlanOf({ plan, account, countedAt }: PlanProps) {
  const { held, still_held, released, exports } = plan;
  const kept = held + still_held;
  return (
    <dl className="counts">
      <div>
        <dt>Is erased at once</dt>
        <dd>{erasedWords(plan)}</dd>
      </div>
      <div>
        <dt>Is kept by a hold</dt>
        <dd>{kept === 0 ? "nothing" : <Kept plan={plan} account={account} />}</dd>
      </div>
      {released > 0 && (
        <div>
          <dt>Is deleted soon by itself</dt>
          <dd>{countOf(released, "copy", "copies")}, whose hold has ended</dd>
        </div>
      )}
      <div>
        <dt>Was handed to others</dt>
        <dd>
          {exports.length === 0 ? (
            "nothing"
          ) : (
            <ul>
              {exports.map(({ export_id, recipient, rows }) => (
                <li key={export_id}>
                  {countOf(rows, "row")} to <Foreign text={recipient} />; the erasure asks them to delete the rows
                </li>
              ))}
            </ul>
          )}
        </dd>
      </div>
      <div>
        <dt>Counted at</dt>
        <dd>
          <Time at={new Date(countedAt).toISOString()} />
        </dd>
      </div>
    </dl>
  );
}

/** What a hold keeps of what is erased at once: the same events. */
function Kept({ plan: { events, held, still_held }, account }: Pick<PlanProps, "plan" | "account">) {
  const { data } = useRead("listHolds", {});
  const holds = data?.holds.filter((hold) => hold.account === account && hold.lifted_at === null) ?? [];
  return (
    <>
      {held > 0 &&
        `${events === 0 ? "the same " : ""}${countOf(held, "event")}${events === 0 ? "" : " of these"}, in copies that only the hold may use, until it ends. `}
      {still_held > 0 && `${countOf(still_held, "event")} of an earlier erasure. `}
      {holds.map(({ hold_id, reason, review_on }) => (
        <span key={hold_id}>
          The hold: <Foreign text={reason} />, next review {dateOf(review_on)}.{" "}
        </span>
      ))}
      <Link to="/holds">See holds</Link>, and ask who decided whether it is still needed.
    </>
  );
}

const isNothingLeft = ({ events, held, features, derived_only, tokens, actions, idempotency_keys }: Plan): boolean =>
  events + held + features + derived_only + tokens + actions + idempotency_keys === 0;

function erasedWords({ events, held, features, derived_only, tokens, actions, idempotency_keys }: Plan): string {
  const parts = [
    [events + held, "event"],
    [features, "row of feature values", "rows of feature values"],
    [
      derived_only,
      "expired event of which only feature values are left",
      "expired events of which only feature values are left",
    ],
    [tokens, "session token"],
    [actions, "registered action"],
    [idempotency_keys, "key of a retry", "keys of retries"],
  ] as const;
  return (
    parts
      .filter(([count]) => count > 0)
      .map(([count, one, several]) => countOf(count, one, several))
      .join(", ") || "nothing: it was erased before"
  );
}

interface OrderProps {
  readonly account: string;
  readonly reason: string | undefined;
  readonly plan: Plan | undefined;
  readonly isUnknown: boolean;
  readonly draft: string | undefined;
  readonly ordered: ((reason: string) => void) | undefined;
  readonly erased: (erased: Erased) => void;
}

function Order({ account, reason, plan, isUnknown, draft, ordered, erased }: OrderProps) {
  const canChange = useScope("governance.change") !== undefined;
  const change = useChange(async (asked: Input<"runErasure">, onProgress) => {
    const answer = await call("runErasure", asked, { onProgress });
    await queryClient.invalidateQueries({ queryKey: ["listErasures"] });
    erased(answer);
  });
  if (!canChange) return <Forbidden permission="governance.change" what="An erasure" />;
  const isNothing = plan !== undefined && isNothingLeft(plan);
  const order = (submitted: FormEvent<HTMLFormElement>): void => {
    submitted.preventDefault();
    const form = new FormData(submitted.currentTarget);
    const why = reason ?? formText(form, "reason") ?? "";
    ordered?.(why);
    void change.run({
      account,
      reason: why,
      ...((isNothing || form.has("refuse")) && { refuse_later: true }),
      ...(isUnknown && { unknown: true }),
    });
  };
  return (
    <form className="form order" onSubmit={order}>
      <fieldset className="order-fields" disabled={isUnderWay(change)}>
        {reason === undefined && (
          <label>
            Reason
            <input
              name="reason"
              defaultValue={draft}
              className="input"
              required
              minLength={8}
              maxLength={1_000}
              autoFocus
              autoComplete="off"
            />
            <span className="hint">
              {LONG_ENOUGH}, such as the number of the request. Write no name: this text is kept for ever.
            </span>
          </label>
        )}
        {isNothing ? (
          <p>Nothing is left to erase. You can still refuse what the account sends later.</p>
        ) : (
          <label className="radio">
            <input type="checkbox" name="refuse" /> Refuse later events of this account, too
          </label>
        )}
      </fieldset>
      {!isUnderWay(change) && !isNothing && (
        <p className="quiet">
          This can't be undone. Above a number of events that the operator sets, another person is asked to approve it.
        </p>
      )}
      {!isUnderWay(change) && (
        <button type="submit" className="button danger">
          {isNothing
            ? "Refuse later events"
            : `Erase ${plan ? countOf(plan.events + plan.held, "event") : "what backups have"}`}{" "}
          of <Foreign text={account} />
        </button>
      )}
      <Progress change={change} failed="The account was not erased" />
    </form>
  );
}

function Done({ done }: { readonly done: Erased }) {
  const { still_held, receipt, recalls, is_needed } = done;
  return (
    <>
      <p className="result" role="status">
        <strong>{still_held > 0 ? "Erased in part." : is_needed ? "Erased." : "It was erased before."}</strong>{" "}
        {still_held > 0
          ? `A hold keeps ${countOf(still_held, "event")}. Ask the operator to make a backup now, and tell the person what is kept and why.`
          : "No read finds data of this account any more. The audit log keeps who did what, and why."}
      </p>
      {recalls.length > 0 && (
        <p className="note">
          Tell the recipients to delete their rows:{" "}
          <Foreign text={recalls.map(({ recipient }) => recipient).join(", ")} />.
        </p>
      )}
      {receipt === null ? <NotFinished /> : <Receipt text={receipt} />}
    </>
  );
}

const NotFinished = () => (
  <p className="note">
    The receipt is signed when the last row is deleted; the server finishes by itself. The{" "}
    <Link to="/erasures">list of erasures</Link> has it then.
  </p>
);
