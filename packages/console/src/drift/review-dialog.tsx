import type { Input } from "@device-risk-signals/admin-api";
import { type FormEvent, useState } from "react";
import { call, queryClient } from "../app/api.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";

interface ReviewProps {
  readonly path: string;
  /** JSON types that were seen. */
  readonly types: readonly string[];
  readonly close: () => void;
  readonly reviewed: () => void;
}

type Verdict = "accept" | "ignore" | "reject";

const VERDICTS: Readonly<Record<Verdict, { readonly name: string; readonly what: string }>> = {
  accept: { name: "Accept", what: "Features may read it; its sensitivity is high until privacy classifies it." },
  ignore: { name: "Ignore", what: "It is not listed until a new type is seen." },
  reject: { name: "Reject", what: "No feature reads it, and it stays listed." },
};

/** The types of a field that a JSON type may be. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  string: ["string"],
  boolean: ["boolean"],
  number: ["number"],
  array: ["string[]", "number[]"],
};

export function ReviewDialog({ path, types, close, reviewed }: ReviewProps) {
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const choices = types.flatMap((type) => TYPES[type] ?? []);
  const send = async (submitted: FormEvent<HTMLFormElement>): Promise<void> => {
    submitted.preventDefault();
    const verdict = (submitted.nativeEvent as SubmitEvent).submitter?.getAttribute("value");
    const form = new FormData(submitted.currentTarget);
    const [reason, type] = ["reason", "type"].map((name) => form.get(name) as string | null);
    const decided = { path, reason: reason ?? "" };
    setSending(true);
    setError(undefined);
    try {
      if (verdict === "accept") {
        await call("acceptDrift", { ...decided, type: type as Input<"acceptDrift">["type"], sensitivity: "high" });
      } else if (verdict === "ignore") await call("ignoreDrift", decided);
      else await call("rejectDrift", decided);
      await Promise.all(
        ["listDrift", "readDrift", "readOverlay"].map((route) => queryClient.invalidateQueries({ queryKey: [route] })),
      );
      reviewed();
    } catch (thrown) {
      setError(thrown);
      setSending(false);
    }
  };
  return (
    <Dialog title="Review a field" close={close}>
      <form className="form" onSubmit={(submitted) => void send(submitted)}>
        <p>
          <Foreign text={path} isCode />
        </p>
        <label>
          Type, if it is accepted
          <select name="type" className="input">
            {choices.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <label>
          Reason
          <textarea name="reason" className="input" required minLength={8} maxLength={1_000} rows={2} />
        </label>
        {error !== undefined && <Failure error={error} what="The decision was not stored" />}
        {(Object.keys(VERDICTS) as readonly Verdict[]).map((one) => (
          <p key={one}>
            <button type="submit" value={one} className="button" disabled={isSending}>
              {VERDICTS[one].name}
            </button>{" "}
            <span className="quiet">{VERDICTS[one].what}</span>
          </p>
        ))}
      </form>
    </Dialog>
  );
}
