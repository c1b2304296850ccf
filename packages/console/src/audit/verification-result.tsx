import type { Answer } from "@device-risk-signals/admin-api";
import { Foreign } from "../ui/foreign.tsx";
import { relative, Time } from "../ui/time.tsx";

type Verification = Answer<"readVerification">;
type Result = NonNullable<Verification["result"]>;

interface ResultProps {
  readonly verification: Verification;
  readonly result: Result;
}

const BROKEN = 6;
const UNCHECKED = 1;

const entries = (count: number): string => `${count.toLocaleString("en")} ${count === 1 ? "entry" : "entries"}`;

/** What a verification found, in words. */
export function VerificationResult({ verification, result }: ResultProps) {
  const { findings, sinks, waiting, overdue, from } = result;
  return (
    <div className="verification" role="status">
      <p className={`verdict verdict-${result.verdict}`}>
        <strong>{verdictOf(result)}</strong>
        {verification.ended_at !== null && <span className="quiet"> Verified {relative(verification.ended_at)}.</span>}
      </p>
      <p>{explain(result)}</p>
      {from > 0 && <p>The first {entries(from)} were deleted by the log's retention, as an entry says.</p>}
      {waiting > 0 && (
        <p className="quiet">
          {entries(waiting)} written in its last seconds {waiting === 1 ? "is" : "are"} not counted: a worker adds new
          entries every ten seconds.
        </p>
      )}
      {overdue > 0 && (
        <p>
          {entries(overdue)} {overdue === 1 ? "has" : "have"} waited for more than a minute to be added: ask an operator
          whether a worker runs.
        </p>
      )}
      {findings.length > 0 && (
        <ul className="findings" aria-label="Findings">
          {findings.map(({ kind, what }) => (
            <li key={`${kind} ${what}`}>
              <strong>{kind}</strong> <Foreign text={what} />
            </li>
          ))}
        </ul>
      )}
      {sinks.length > 0 && <Sinks verification={verification} result={result} />}
      {verification.ended_at !== null && (
        <p className="quiet small">
          A checkpoint is a signed statement of how many entries the log has, and of what they are. Verified from{" "}
          <Time at={verification.requested_at} isShort /> to <Time at={verification.ended_at} isShort /> UTC.
        </p>
      )}
    </div>
  );
}

function verdictOf({ verdict, size, confirmed, findings }: Result): string {
  if (verdict === 0) return `Complete, and confirmed outside: ${entries(size)}.`;
  if (verdict === BROKEN)
    return `Broken: ${findings.length.toLocaleString("en")} ${findings.length === 1 ? "finding" : "findings"}.`;
  if (verdict === UNCHECKED) return "It could not be verified.";
  return confirmed === size
    ? `Complete: ${entries(size)}.`
    : `Complete, but confirmed outside only up to entry ${confirmed.toLocaleString("en")} of ${size.toLocaleString("en")}.`;
}

function explain({ verdict, error, lacks_keys_of, size, confirmed }: Result): string {
  if (error) return error.message;
  if (lacks_keys_of !== null) {
    return `The worker lacks the keys that entry ${lacks_keys_of} begins to use: an operator gives it the complete file of DRS_AUDIT_KEY_FILE. Then verify again.`;
  }
  if (verdict === BROKEN) {
    return "The log is not what was written. Keep a download of it, and follow the runbook “The audit log fails verification” together with an operator.";
  }
  if (verdict === UNCHECKED) return "It has no checkpoint, or was compared with a foreign one.";
  if (verdict === 0) return "No entry was changed, removed, inserted or reordered, and nothing at the end is missing.";
  return confirmed < size
    ? "No entry was changed, but that the last ones are complete is confirmed by nothing outside of the database. Verify again in a minute."
    : "No entry was changed.";
}

const STATES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    current: "confirms all of it",
    behind: "has an earlier state",
    away: "can't be read",
    different: "contradicts this database",
  }),
);

/** The places outside the database that keep a signed statement of the log. */
function Sinks({ verification, result }: ResultProps) {
  return (
    <div className="table-scroll" tabIndex={0} role="region" aria-label="What is kept outside of the database">
      <table className="table table-wide">
        <thead>
          <tr>
            <th scope="col">Kept outside, in</th>
            <th scope="col">State</th>
            <th scope="col">Its checkpoint covers the first</th>
            <th scope="col">Read, UTC</th>
          </tr>
        </thead>
        <tbody>
          {result.sinks.map(({ name, state, size }) => (
            <tr key={name}>
              <td>
                <Foreign text={name} />
              </td>
              <td className={state === "current" ? "" : "warn"}>{STATES.get(state) ?? state}</td>
              <td className="numbers">{entries(size)}</td>
              <td>
                <Time at={verification.requested_at} isShort />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
