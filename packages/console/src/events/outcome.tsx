import { Foreign } from "../ui/foreign.tsx";
import type { ProbeState } from "@device-risk-signals/contract/observations";

type State = ProbeState["state"];

/** The word, the letter and what it means, the same on every page. */
export const OUTCOMES: Readonly<
  Record<State, { readonly mark: string; readonly word: string; readonly what: string }>
> = {
  observed: { mark: "●", word: "observed", what: "the probe ran and reported" },
  skipped: { mark: "S", word: "skipped", what: "the app, the person or the platform excluded it" },
  timeout: { mark: "T", word: "timeout", what: "the probe did not end in time" },
  error: { mark: "E", word: "error", what: "the probe failed" },
  omitted: { mark: "·", word: "omitted", what: "the event says nothing about it" },
};

/** Every state in one order, also one that no probe has. */
export const STATES = Object.keys(OUTCOMES) as readonly State[];

/** A state by a letter, a shape and a word, and not by colour alone. */
export const Outcome = ({ state, reason }: { readonly state: State; readonly reason?: string | null | undefined }) => (
  <span className={`outcome outcome-${state}`}>
    <span className="outcome-mark" aria-hidden="true">
      {OUTCOMES[state].mark}
    </span>
    {OUTCOMES[state].word}
    {typeof reason === "string" && (
      <>
        : <Foreign text={reason} />
      </>
    )}
  </span>
);

/** What the marks mean, in one line. */
export const OutcomeLegend = () => (
  <p className="outcome-legend small">
    <span className="quiet">A box is a probe:</span>
    {STATES.map((state) => (
      <span key={state} title={OUTCOMES[state].what}>
        <Outcome state={state} />
      </span>
    ))}
  </p>
);
