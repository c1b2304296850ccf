import { type ReactNode, useState } from "react";
import { countOf } from "./words.ts";

const STEP = 100;

/** The first rows of a long list, and the way to more of them: a page of thousands of rows is slow. */
export function useRowLimit<Row>(rows: readonly Row[]): { readonly shown: readonly Row[]; readonly foot: ReactNode } {
  const [limit, setLimit] = useState(STEP);
  const hidden = rows.length - limit;
  const foot = hidden > 0 && (
    <footer className="list-foot">
      <button type="button" className="button" onClick={() => setLimit(limit + STEP)}>
        Show more; {countOf(hidden, "further row")}
      </button>
    </footer>
  );
  return { shown: rows.slice(0, limit), foot };
}
