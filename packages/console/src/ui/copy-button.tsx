import { useState } from "react";

interface CopyButtonProps {
  /** The text, or what finds it at the press. */
  readonly text: string | (() => string);
  readonly label: string;
  readonly isQuiet?: boolean;
}

/** Copies a text, and says whether it did. */
export function CopyButton({ text, label, isQuiet = false }: CopyButtonProps) {
  const [state, setState] = useState<"ready" | "copied" | "failed">("ready");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      setState("copied");
    } catch {
      setState("failed");
    }
    setTimeout(() => setState("ready"), 2_000);
  };
  return (
    <button type="button" className={isQuiet ? "button quiet-button" : "button"} onClick={() => void copy()}>
      <span aria-live="polite">{{ ready: label, copied: "Copied", failed: "Can't copy here" }[state]}</span>
    </button>
  );
}
