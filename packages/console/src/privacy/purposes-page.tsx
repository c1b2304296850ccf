import type { Answer } from "@device-risk-signals/admin-api";
import { AdminRequestError } from "@device-risk-signals/admin-api/client";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { ApplyPolicyFile, ChangePeriods } from "./change-policy.tsx";
import { deletedWords } from "./receipt.tsx";
import { countOf, dateOf, periodWords } from "./words.ts";

type Purpose = Answer<"listPurposes">["purposes"][number];

/** Why events are kept and for how long, and what a change would delete before it is applied. */
export function PurposesPage() {
  const canRead = useScope("governance.read") !== undefined;
  const canChange = useScope("purposes.change") !== undefined;
  const { data, error, refetch } = useRead("listPurposes", {}, canRead);
  return (
    <>
      <header className="page-head">
        <div>
          <h1>Purposes and retention</h1>
          <p className="quiet">
            The type of an action decides, when an event is received, why and how long it is kept.
          </p>
        </div>
      </header>
      {!canRead && <Forbidden permission="governance.read" what="The list of purposes" />}
      {error && <Failure error={error} what="The purposes could not be read" again={() => void refetch()} />}
      {canRead && !error && !data && <Skeleton lines={6} />}
      {data && <Purposes purposes={data.purposes} />}
      {data && (canChange ? <Change /> : <Forbidden permission="purposes.change" what="A change of a period" />)}
      {canRead && <Passes />}
    </>
  );
}

function Purposes({ purposes }: { readonly purposes: readonly Purpose[] }) {
  const hasPolicy = purposes.some(({ policy_version }) => policy_version > 0);
  return (
    <>
      {!hasPolicy && (
        <p className="note">
          No policy was applied yet: one purpose covers everything, and nothing expires. Choose a policy file below; the
          documentation has an example to begin with.
        </p>
      )}
      <ul className="purposes">
        {purposes.map((purpose) => (
          <li key={purpose.id} className="purpose">
            <h2>
              <Foreign text={purpose.title} />
              {purpose.retired_at !== null && <span className="tag">accepts no new events</span>}
            </h2>
            <dl className="counts">
              <Fact name="Events are kept">{keptFor(purpose.raw_retention)}</Fact>
              <Fact name="Values derived from them">{keptFor(purpose.derived_retention)}</Fact>
              <Fact name="Legal basis">
                <Foreign text={purpose.legal_basis ?? "not named"} />
              </Fact>
              <Fact name="Responsible">
                <Foreign text={purpose.owner ?? "not named"} />
              </Fact>
              <Fact name="Actions">
                <Foreign text={actionsOf(purpose)} />
              </Fact>
              <Fact name="Covers">{coversOf(purpose)}</Fact>
            </dl>
          </li>
        ))}
      </ul>
    </>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

const keptFor = (period: string | null): string => (period === null ? "without end" : `for ${periodWords(period)}`);

const actionsOf = ({ action_types, takes_unmapped }: Purpose): string =>
  [...action_types, ...(takes_unmapped ? ["all others"] : [])].join(", ") || "none";

function coversOf({ probes, highest_sensitivity, beyond }: Purpose): string {
  const what = probes === null ? "everything that phones report" : `only ${probes.join(", ")}`;
  const up = highest_sensitivity === null ? "" : `, up to ${highest_sensitivity} sensitivity`;
  if (probes === null && highest_sensitivity === null) return what;
  return `${what}${up}; an event with more is ${beyond === "refuse" ? "rejected" : "stored and recorded"}`;
}

function Change() {
  const { data, error, refetch } = useRead("readProcessingRecord", {});
  const hasNoPolicy = error instanceof AdminRequestError && error.status === 404;
  return (
    <section aria-labelledby="change">
      <header className="section-head">
        <h2 id="change">Change a period</h2>
        <span className="quiet">See what it would delete first: nothing is changed by that.</span>
      </header>
      {error && !hasNoPolicy && (
        <Failure error={error} what="The policy could not be read" again={() => void refetch()} />
      )}
      {!error && !data && <Skeleton lines={3} />}
      {data && <ChangePeriods key={JSON.stringify(data.policy)} policy={data.policy} />}
      {(data || hasNoPolicy) && <ApplyPolicyFile />}
    </section>
  );
}

function Passes() {
  const { data, error, refetch } = useRead("readRetention", {});
  return (
    <section aria-labelledby="passes">
      <header className="section-head">
        <h2 id="passes">What was deleted because its period had ended</h2>
      </header>
      {error && <Failure error={error} what="This could not be read" again={() => void refetch()} />}
      {!error && !data && <Skeleton lines={3} />}
      {data && (
        <>
          <p>
            {data.overdue_partitions === 0
              ? "Nothing is late."
              : `${countOf(data.overdue_partitions, "part")} of the store should be deleted already: an operator looks at drs doctor.`}{" "}
            {data.last_run_at !== null && (
              <>
                The server looked last at <Time at={data.last_run_at} />.
              </>
            )}
          </p>
          {data.runs.length === 0 ? (
            <p className="quiet">Nothing has expired yet.</p>
          ) : (
            <ul className="passes">
              {data.runs.slice(0, 20).map(({ run_id, finished_at, actor, ...deleted }) => (
                <li key={run_id}>
                  <span className="numbers">{dateOf(finished_at)}</span> {deletedWords(deleted)}, by{" "}
                  <Foreign text={actor} />{" "}
                  <Link to="/receipts" search={{ id: run_id }}>
                    receipt
                  </Link>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </section>
  );
}
