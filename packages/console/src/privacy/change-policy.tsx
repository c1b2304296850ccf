import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { call, queryClient } from "../app/api.ts";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Download } from "./download.tsx";
import { formText } from "./form-text.ts";
import { deletedBy, PolicyChanges } from "./policy-changes.tsx";
import { type PeriodName, type Periods, type PolicyPurpose, purposesOf, withPeriods } from "./policy-text.ts";
import { isUnderWay } from "./next-step.ts";
import { Progress } from "./progress.tsx";
import { useChange } from "./use-change.ts";
import { countOf, periodOf } from "./words.ts";

const UNITS = { D: "days", W: "weeks", M: "months", Y: "years" } as const;
const NAMES = { raw_retention: "Events", derived_retention: "Derived values" } as const;

/** Other periods for the purposes of the policy. */
export function ChangePeriods({ policy }: { readonly policy: unknown }) {
  const [text, setText] = useState<string>();
  const purposes = purposesOf(policy);
  const show = (submitted: FormEvent<HTMLFormElement>): void => {
    submitted.preventDefault();
    setText(withPeriods(policy, periodsIn(new FormData(submitted.currentTarget), purposes)));
  };
  return (
    <>
      <form className="form periods" onSubmit={show} onChange={() => setText(undefined)}>
        {purposes.map((purpose) => (
          <fieldset key={purpose.id}>
            <legend>
              <Foreign text={purpose.title} />
            </legend>
            {(Object.keys(NAMES) as PeriodName[]).map((name) => (
              <PeriodField key={name} purpose={purpose} name={name} />
            ))}
          </fieldset>
        ))}
        {text === undefined && (
          <button type="submit" className="button primary">
            Show what this deletes
          </button>
        )}
      </form>
      {text !== undefined && (
        <ApplyPolicy key={text} text={text} before={purposes} after={purposesOf(JSON.parse(text))} />
      )}
    </>
  );
}

interface PeriodFieldProps {
  readonly purpose: PolicyPurpose;
  readonly name: PeriodName;
}

function PeriodField({ purpose, name }: PeriodFieldProps) {
  const period = periodOf(purpose[name]);
  const id = `${purpose.id}.${name}`;
  if (!period) {
    return (
      <p>
        {NAMES[name]}: <Foreign text={purpose[name]} />, to be changed in a policy file
      </p>
    );
  }
  return (
    <div className="period">
      <label htmlFor={id}>{NAMES[name]}</label>
      <input
        id={id}
        name={id}
        type="number"
        className="input numbers"
        min={1}
        max={36_500}
        required
        defaultValue={period.count}
      />
      <select
        name={`${id}.unit`}
        className="input"
        aria-label={`Unit, ${NAMES[name].toLowerCase()}`}
        defaultValue={period.unit}
      >
        {Object.entries(UNITS).map(([unit, words]) => (
          <option key={unit} value={unit}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}

function periodsIn(form: FormData, purposes: readonly PolicyPurpose[]): Periods {
  const periodIn = (id: string, name: PeriodName): Partial<Record<PeriodName, string>> => {
    const count = formText(form, `${id}.${name}`);
    const unit = formText(form, `${id}.${name}.unit`);
    return count === undefined || unit === undefined ? {} : { [name]: `P${Number(count)}${unit}` };
  };
  return Object.fromEntries(
    purposes.map(({ id }) => [id, { ...periodIn(id, "raw_retention"), ...periodIn(id, "derived_retention") }]),
  );
}

/** The longest file that the server accepts. */
const MAX_CHARACTERS = 1_048_576;

/** A policy file, such as one under review like code. */
export function ApplyPolicyFile() {
  const [text, setText] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const read = async (file: File | undefined): Promise<void> => {
    setText(undefined);
    setProblem(undefined);
    if (!file) return;
    if (file.size > 4 * MAX_CHARACTERS) return setProblem("The file is too large for a policy.");
    setText(await file.text());
  };
  return (
    <details className="policy-file">
      <summary>Use a policy file instead</summary>
      <label className="drop">
        <span>
          A file in YAML, such as purposes.yaml: purposes, their periods, and the purpose of each action type.
        </span>
        <input type="file" accept=".yaml,.yml,.json" onChange={(changed) => void read(changed.target.files?.[0])} />
      </label>
      {problem !== undefined && (
        <p className="failure" role="alert">
          {problem}
        </p>
      )}
      {text !== undefined && <ApplyPolicy key={text} text={text} />}
    </details>
  );
}

interface PolicyProps {
  readonly text: string;
}

/** Of a file the server says what changes; this browser does not read YAML. */
const UNREAD: readonly PolicyPurpose[] = [];

interface ApplyPolicyProps extends PolicyProps {
  readonly before?: readonly PolicyPurpose[];
  readonly after?: readonly PolicyPurpose[];
}

/** What a policy would change and delete, and the button that applies it. */
function ApplyPolicy({ text, before = UNREAD, after = UNREAD }: ApplyPolicyProps) {
  const { data, dataUpdatedAt, error, refetch } = useQuery({
    queryKey: ["plan of a policy", text],
    queryFn: () => call("applyPolicy", { policy: text, dry_run: true }),
    // The numbers are those of now.
    gcTime: 0,
  });
  return (
    <div className="panel">
      {error && <Failure error={error} what="This can't be applied" again={() => void refetch()} />}
      {!error && !data && <Skeleton lines={3} />}
      {data && (
        <PolicyChanges
          changes={data.changes}
          countedAt={new Date(dataUpdatedAt).toISOString()}
          {...{ before, after }}
        />
      )}
      {data && data.changes.length > 0 && <Apply text={text} deletes={deletedBy(data.changes)} />}
    </div>
  );
}

interface ApplyProps extends PolicyProps {
  /** Number of events that expire at once. */
  readonly deletes: number;
}

function Apply({ text, deletes }: ApplyProps) {
  const [version, setVersion] = useState<number>();
  const change = useChange(async (_, onProgress) => {
    setVersion((await call("applyPolicy", { policy: text }, { onProgress })).version);
    for (const read of ["listPurposes", "readRetention"]) await queryClient.invalidateQueries({ queryKey: [read] });
  });
  if (version !== undefined) {
    return (
      <>
        <p className="result" role="status">
          <strong>Applied.</strong> It is policy {version}, and active now.
        </p>
        <Download content={text} name={`policy-${version}.json`} label="Download its file, to keep it" />
      </>
    );
  }
  return (
    <>
      {!isUnderWay(change) && (
        <button
          type="button"
          className={deletes > 0 ? "button danger" : "button primary"}
          onClick={() => void change.run()}
        >
          {deletes > 0 ? `Apply, and delete ${countOf(deletes, "event")} now` : "Apply"}
        </button>
      )}
      <Progress change={change} failed="The policy was not applied" />
    </>
  );
}
