import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef } from "react";
import type { KeySearch } from "./key-search.ts";

/** Asks for the key and its account; what is missing has the focus. */
export function KeyForm({ search: { account, key } }: { readonly search: KeySearch }) {
  const navigate = useNavigate({ from: "/events/key" });
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLInputElement>("input[value='']")?.focus(), []);
  const show = (submitted: FormEvent<HTMLFormElement>): void => {
    submitted.preventDefault();
    const { elements } = submitted.currentTarget;
    const textOf = (name: string): string => (elements.namedItem(name) as HTMLInputElement).value.trim();
    void navigate({ search: { account: textOf("account"), key: textOf("key") } });
  };
  return (
    <form ref={form} className="key-form" onSubmit={show}>
      <label>
        Account
        <input name="account" className="input" required maxLength={256} defaultValue={account ?? ""} {...PLAIN} />
      </label>
      <label>
        Idempotency key
        <input name="key" className="input mono" required maxLength={128} defaultValue={key ?? ""} {...PLAIN} />
      </label>
      <button type="submit" className="button">
        Show
      </button>
    </form>
  );
}

const PLAIN = { autoComplete: "off", spellCheck: false } as const;
