import { useState } from "react";
import { visible } from "../ui/foreign.tsx";

/** Longer texts are cut for display; the whole is one press away. */
const MAX_SHOWN = 4_096;

/** A value as JSON, so that the text "false" differs from `false`, and none looks like a state. */
export function Value({ value }: { readonly value: unknown }) {
  const [isWhole, setWhole] = useState(false);
  const text = visible(JSON.stringify(value) ?? "");
  const isCut = text.length > MAX_SHOWN && !isWhole;
  return (
    <>
      <span className={`mono foreign value value-${kindOf(value)}`}>{isCut ? text.slice(0, MAX_SHOWN) : text}</span>
      {isCut && (
        <button type="button" className="button quiet-button" onClick={() => setWhole(true)}>
          … show all {text.length.toLocaleString()} characters
        </button>
      )}
    </>
  );
}

const kindOf = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "list" : typeof value);
