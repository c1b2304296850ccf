import { PROBLEMS, VIOLATIONS } from "@device-risk-signals/contract/errors";
import type { ReactNode } from "react";
import { Foreign } from "../ui/foreign.tsx";
import { Marked } from "../ui/marked.tsx";

/** Causes of a rejection that the client does not learn. */
const CAUSES: Readonly<Record<string, string>> = {
  unknown: "The action is unknown.",
  expired: "The action has expired or was revoked.",
  "other-account": "The action belongs to another account.",
  "other-type": "The action has another type.",
  "too-long": "The Authorization header is longer than the limit.",
};

const problemOf = (code: string) =>
  Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code as keyof typeof PROBLEMS] : undefined;

const violationOf = (code: string): string | undefined =>
  Object.hasOwn(VIOLATIONS, code) ? VIOLATIONS[code as keyof typeof VIOLATIONS] : undefined;

export const causeOf = (code: string): string | undefined => (Object.hasOwn(CAUSES, code) ? CAUSES[code] : undefined);

/** Such as "400 Request invalid". */
export const titleOf = (problem: string): string => {
  const known = problemOf(problem);
  return known ? `${known.status} ${known.title}` : problem;
};

export interface BrokenRule {
  readonly violation: string | null;
  readonly place: string | null;
}

interface RejectionFactsProps {
  readonly problem: string;
  readonly cause: string | null;
  readonly rules: readonly BrokenRule[];
  readonly children?: ReactNode;
}

/** What the contract says about a rejection, and what the client learned. */
export const RejectionFacts = ({ problem, cause, rules, children }: RejectionFactsProps) => (
  <dl className="facts">
    <Fact name="What the contract says">
      <Marked text={problemOf(problem)?.when ?? "This release of the pages does not know the problem."} />
    </Fact>
    {rules.map((rule) => (
      <Rule key={JSON.stringify(rule)} rule={rule} />
    ))}
    {cause !== null && causeOf(cause) !== undefined && (
      <Fact name="The cause, which the client does not learn">{causeOf(cause)}</Fact>
    )}
    {children}
    <Fact name="What the client got">
      <span className="mono">
        urn:problem:device-risk-signals:
        <Foreign text={problem} />
      </span>
    </Fact>
  </dl>
);

export const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

function Rule({ rule: { violation, place } }: { readonly rule: BrokenRule }) {
  const meaning = violation === null ? undefined : violationOf(violation);
  const where = place === null ? "the whole request" : <Foreign text={place} isCode />;
  if (meaning === undefined) return <Fact name="Place in the request">{where}</Fact>;
  return (
    <Fact name="The rule that was broken, and where">
      <Marked text={meaning} />
      <br />
      {where}
    </Fact>
  );
}
