import type { Input } from "@device-risk-signals/admin-api";
import { useNavigate } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { call, queryClient } from "../app/api.ts";
import { Dialog } from "../ui/dialog.tsx";
import { formText } from "./form-text.ts";
import { Progress } from "./progress.tsx";
import { useChange } from "./use-change.ts";
import { ARTICLES, KINDS } from "./words.ts";

interface RegisterProps {
  readonly account: string | undefined;
  readonly close: () => void;
}

export const forgetRequests = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ["listRequests"] });

/** Records that a person asked for something, and opens the page of the request. */
export function RegisterRequest({ account, close }: RegisterProps) {
  const navigate = useNavigate();
  const change = useChange(async (asked: Input<"addRequest">) => {
    const { request } = await call("addRequest", asked);
    await forgetRequests();
    await navigate({ to: "/requests/$requestId", params: { requestId: request.request_id } });
  });
  const register = (submitted: FormEvent<HTMLFormElement>): void => {
    submitted.preventDefault();
    const form = new FormData(submitted.currentTarget);
    const identity = formText(form, "identity");
    const on = formText(form, "received");
    void change.run({
      account: formText(form, "account") ?? "",
      kind: formText(form, "kind") as Input<"addRequest">["kind"],
      ...(identity !== undefined && { identity }),
      ...(on !== undefined && { received_at: `${on}T00:00:00Z` }),
    });
  };
  const today = new Date().toISOString().slice(0, 10);
  return (
    <Dialog title="Register a request" close={close}>
      <form className="form" onSubmit={register}>
        <label>
          Account
          <input
            name="account"
            className="input"
            required
            maxLength={256}
            defaultValue={account}
            autoComplete="off"
            spellCheck={false}
          />
        </label>
        <div className="form-row">
          <label>
            Asks for
            <select name="kind" className="input">
              {Object.entries(KINDS).map(([kind, name]) => (
                <option key={kind} value={kind}>
                  {name} (article {ARTICLES[kind as keyof typeof ARTICLES]})
                </option>
              ))}
            </select>
          </label>
          <label>
            Received on
            <input name="received" type="date" className="input" max={today} />
            <span className="hint">Empty: now. Due one month later, by UTC.</span>
          </label>
        </div>
        <label>
          How you checked the identity
          <input name="identity" className="input" maxLength={1_000} placeholder="such as: signed in, code by mail" />
          <span className="hint">You can add it later. Write no name: this text is kept.</span>
        </label>
        <Progress change={change} failed="The request was not registered" />
        <button type="submit" className="button primary" disabled={change.isRunning}>
          Register
        </button>
      </form>
    </Dialog>
  );
}
