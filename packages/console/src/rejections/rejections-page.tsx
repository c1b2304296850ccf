import type { Answer } from "@device-risk-signals/admin-api";
import { PROBLEMS, VIOLATIONS } from "@device-risk-signals/contract/errors";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { DaysPicker, startOf } from "../ui/days.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Marked } from "../ui/marked.tsx";
import { PageHead } from "../ui/page-head.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";

type Rejection = Answer<"summarizeRejections">["rejections"][number];

/** Causes of a rejection that the client does not learn. */
const CAUSES: Readonly<Record<string, string>> = {
  unknown: "The action is unknown.",
  expired: "The action has expired or was revoked.",
  "other-account": "The action belongs to another account.",
  "other-type": "The action has another type.",
  "too-long": "The Authorization header is longer than the limit.",
};

export function RejectionsPage() {
  const { days = 7 } = useSearch({ from: "/shell/rejections" });
  const navigate = useNavigate({ from: "/rejections" });
  const scope = useScope("counters.read");
  const { data, error, refetch } = useRead("summarizeRejections", { from: startOf(days) }, scope !== undefined);
  return (
    <>
      <PageHead
        title="Rejected requests"
        what="What the endpoint refused, by rule, place and SDK version. It keeps no value of a refused request."
      >
        <DaysPicker days={days} choose={(chosen) => void navigate({ search: { days: chosen }, replace: true })} />
      </PageHead>
      {scope === undefined && <Forbidden permission="counters.read" what="The list of rejections" />}
      {error && <Failure error={error} what="The rejections could not be read" again={() => void refetch()} />}
      {scope !== undefined && !error && !data && <Skeleton lines={6} />}
      {data && (data.rejections.length === 0 ? <None /> : <Rejections rejections={data.rejections} />)}
      {data?.more && <p className="note">There are more than these: choose a shorter time.</p>}
    </>
  );
}

const None = () => (
  <div className="empty">
    <h2>Nothing was rejected</h2>
    <p className="quiet">
      A refused request appears here within ten seconds, with the rule that it broke. The client got the same rule.
    </p>
  </div>
);

const keyOf = ({ problem, violation, place, sdk_version }: Rejection): string =>
  JSON.stringify([problem, violation, place, sdk_version]);

function Rejections({ rejections }: { readonly rejections: readonly Rejection[] }) {
  const total = rejections.reduce((sum, { occurrences }) => sum + occurrences, 0);
  return (
    <>
      <p className="quiet numbers">
        {total.toLocaleString()} counted. A request that broke several rules counts once in the row of each.
      </p>
      <ul className="rejections">
        {rejections.map((one) => (
          <li key={keyOf(one)}>
            <details name="rejection">
              <summary>
                <span className="numbers rejection-count">{one.occurrences.toLocaleString()}</span>
                <span>{titleOf(one)}</span>
                <span className="quiet mono">{one.place === null ? "" : <Foreign text={one.place} />}</span>
                <span className="quiet">{one.sdk_version === null ? "" : <>SDK {one.sdk_version}</>}</span>
              </summary>
              <Rule rejection={one} />
            </details>
          </li>
        ))}
      </ul>
    </>
  );
}

const problemOf = (code: string) =>
  Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code as keyof typeof PROBLEMS] : undefined;

const violationOf = (code: string | null): string | undefined =>
  code !== null && Object.hasOwn(VIOLATIONS, code) ? VIOLATIONS[code as keyof typeof VIOLATIONS] : undefined;

const titleOf = ({ problem, violation }: Rejection): string => {
  const { status, title } = problemOf(problem) ?? { status: "", title: problem };
  return `${status} ${title}${violation === null ? "" : `: ${violation}`}`;
};

function Rule({ rejection }: { readonly rejection: Rejection }) {
  const { problem, violation, place, first_hour: first, last_hour: last } = rejection;
  const cause = violation === null ? undefined : CAUSES[violation];
  return (
    <dl className="facts">
      <div>
        <dt>What the contract says</dt>
        <dd>
          <Marked text={problemOf(problem)?.when ?? "This release of the pages does not know the problem."} />
        </dd>
      </div>
      {violationOf(violation) !== undefined && (
        <div>
          <dt>The rule that was broken</dt>
          <dd>
            <Marked text={violationOf(violation) ?? ""} />
          </dd>
        </div>
      )}
      {cause !== undefined && (
        <div>
          <dt>The cause, which the client does not learn</dt>
          <dd>{cause}</dd>
        </div>
      )}
      <div>
        <dt>Place in the request</dt>
        <dd>{place === null ? "the whole request" : <Foreign text={place} isCode />}</dd>
      </div>
      <div>
        <dt>Hours in which it occurred</dt>
        <dd>
          <Time at={first} isShort /> to <Time at={last} isShort /> UTC
        </dd>
      </div>
      <div>
        <dt>What the client got</dt>
        <dd className="mono">urn:problem:device-risk-signals:{problem}</dd>
      </div>
    </dl>
  );
}
