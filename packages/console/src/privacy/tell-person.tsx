import { CopyButton } from "../ui/copy-button.tsx";
import { type DataRequest, countOf, dateOf } from "./words.ts";

interface TellProps {
  readonly request: DataRequest;
  readonly erasureId: string | undefined;
  readonly stillHeld: number;
}

/** A text to begin an answer with. It says what was done, and nothing that only the company knows. */
export function TellPerson({ request, erasureId, stillHeld }: TellProps) {
  const text = letterOf(request, erasureId, stillHeld);
  return (
    <>
      <pre className="letter foreign" tabIndex={0} aria-label="Text for the person">
        {text}
      </pre>
      <CopyButton text={text} label="Copy the text" />
    </>
  );
}

function letterOf({ kind, received_at, request_id }: DataRequest, erasureId: string | undefined, held: number): string {
  const answers: Partial<Record<DataRequest["kind"], string>> = {
    erasure:
      held > 0
        ? `We have erased the data about your devices, except for ${countOf(held, "record")} that we must keep for a legal claim. We erase them when the claim has ended.`
        : "We have erased the data about your devices.",
    restriction: "We keep the data about your devices, but analyse them no longer. We tell you before this ends.",
    objection: "We have stopped the analysis of the data about your devices to which you object.",
    rectification: "We have corrected what we concluded about you from the data of your devices.",
  };
  return [
    `Your request of ${dateOf(received_at)} (number ${request_id})`,
    answers[kind] ?? "",
    ...(erasureId === undefined ? [] : [`The number of the erasure is ${erasureId}; our signed receipt names it.`]),
    "You can complain to the data protection authority: [name and address].",
  ].join("\n\n");
}
