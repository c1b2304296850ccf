import { useState } from "react";
import { useRead } from "../app/api.ts";
import { Failure } from "../ui/failure.tsx";
import { eventsIn } from "./histogram.tsx";
import { inputOf, type Search } from "./search.ts";

/** The number of all events of a search, for a person who asks for it. */
export function Count({ search }: { readonly search: Search }) {
  const [isAsked, setAsked] = useState(false);
  const { data, error, refetch } = useRead("countEvents", inputOf(search), isAsked);
  if (!isAsked) {
    return (
      <button type="button" className="button" onClick={() => setAsked(true)}>
        Count all
      </button>
    );
  }
  if (error) return <Failure error={error} what="They could not be counted" again={() => void refetch()} />;
  if (!data) return <p role="status">Counting…</p>;
  const all = data.counts[0] ?? { events: 0, more: false };
  return (
    <p role="status">
      <span className="numbers">{eventsIn(all)}</span>
      {all.more && ": the count stops at 1,000, or after 2 seconds"}
    </p>
  );
}
