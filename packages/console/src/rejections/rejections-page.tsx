import type { Answer } from "@device-risk-signals/admin-api";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { DaysPicker, startOf } from "../ui/days.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { ExampleCurl } from "./example-curl.tsx";
import { RejectionTabs } from "./rejection-tabs.tsx";
import { Fact, RejectionFacts, titleOf } from "./rejection-facts.tsx";

type Rejection = Answer<"summarizeRejections">["rejections"][number];

export function RejectionsPage() {
  const { days = 7 } = useSearch({ from: "/shell/rejections" });
  const navigate = useNavigate({ from: "/rejections" });
  const scope = useScope("counters.read");
  const { data, error, refetch } = useRead("summarizeRejections", { from: startOf(days) }, scope !== undefined);
  return (
    <>
      <RejectionTabs what="What the endpoint refused, by rule, place and SDK version. It keeps no value of a refused request.">
        <DaysPicker days={days} choose={(chosen) => void navigate({ search: { days: chosen }, replace: true })} />
      </RejectionTabs>
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
      <p className="rejections-head" aria-hidden="true">
        <span>Requests</span>
        <span>Problem</span>
        <span>Place</span>
        <span />
      </p>
      <ul className="rejections">
        {rejections.map((one) => (
          <li key={keyOf(one)}>
            <details name="rejection">
              <summary>
                <span className="numbers rejection-count">{one.occurrences.toLocaleString()}</span>
                <span>
                  {titleOf(one.problem)}
                  {one.violation !== null && `: ${one.violation}`}
                </span>
                <span className="quiet mono">{one.place === null ? "" : <Foreign text={one.place} />}</span>
                <span className="quiet">{one.sdk_version === null ? "" : <>SDK {one.sdk_version}</>}</span>
              </summary>
              <RejectionFacts problem={one.problem} cause={one.violation} rules={[one]}>
                <Fact name="Hours in which it occurred">
                  <Time at={one.first_hour} isShort /> to <Time at={one.last_hour} isShort /> UTC
                </Fact>
                <Fact name="Each request">
                  <Link to="/rejections/latest" search={{ problem: one.problem }}>
                    The latest with the problem {one.problem}, for any rule
                  </Link>
                </Fact>
              </RejectionFacts>
              <ExampleCurl problem={one.problem} cause={one.violation} violation={one.violation} place={one.place} />
            </details>
          </li>
        ))}
      </ul>
    </>
  );
}
