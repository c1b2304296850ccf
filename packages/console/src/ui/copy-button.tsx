import { useState } from "react";

/** Copies a text, and says whether it did. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [state, setState] = useState<"ready" | "copied" | "failed">("ready");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setState("copied");
    } catch {
      setState("failed");
    }
    setTimeout(() => setState("ready"), 2_000);
  };
  return (
    <button type="button" className="button" onClick={() => void copy()}>
      <span aria-live="polite">{{ ready: label, copied: "Copied", failed: "Can't copy here" }[state]}</span>
    </button>
  );
}
