/** Follows the events that arrive: polls about each second while the page is visible. */
import type { Input } from "@device-risk-signals/admin-api";
import { useEffect, useReducer, useRef } from "react";
import { call } from "../app/api.ts";
import { changed, EMPTY, newestOf, pauseAfter } from "./tail.ts";

export type TailFilter = Omit<Input<"tailEvents">, "since">;

/** Events of other servers may be committed a little later than newer ones of this one. */
const OVERLAP_MS = 5_000;
/** How long before its start the tail begins. */
const BEGIN_MS = 600_000;
/** @returns the tail, and what pauses and resumes it. */
export function useTail(filter: TailFilter, isEnabled: boolean) {
  const [tail, change] = useReducer(changed, EMPTY);
  const newest = useRef<string>(undefined);
  const key = JSON.stringify(filter);
  newest.current = newestOf(tail)?.received_at;
  useEffect(() => {
    if (!isEnabled) return;
    change({ kind: "restarted" });
    newest.current = undefined;
    let isStopped = false;
    let timer: ReturnType<typeof setTimeout>;
    const poll = async (): Promise<void> => {
      const began = performance.now();
      // A hidden page asks nothing, and costs nothing.
      if (document.visibilityState === "visible") {
        const from = newest.current === undefined ? Date.now() - BEGIN_MS : Date.parse(newest.current) - OVERLAP_MS;
        const since = new Date(Math.max(from, Date.now() - BEGIN_MS)).toISOString();
        try {
          const { events, more } = await call("tailEvents", { ...(JSON.parse(key) as TailFilter), since });
          if (!isStopped) change({ kind: "answered", events, since, more });
        } catch (error) {
          if (!isStopped) change({ kind: "failed", error });
        }
      }
      if (!isStopped) timer = setTimeout(() => void poll(), pauseAfter(performance.now() - began));
    };
    void poll();
    return () => {
      isStopped = true;
      clearTimeout(timer);
    };
  }, [key, isEnabled]);
  const pause = (): void => change({ kind: "paused" });
  const resume = (): void => change({ kind: "resumed" });
  return { tail, pause, resume };
}
