import type { Answer } from "@device-risk-signals/admin-api";
import {
  describeFields,
  describeProbes,
  type ObservedField,
  type ProbeState,
} from "@device-risk-signals/contract/observations";
import { Link } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";
import { useScope } from "../app/session.tsx";
import { UnknownField } from "../drift/unknown-field.tsx";
import { Foreign, visible } from "../ui/foreign.tsx";
import { Marked } from "../ui/marked.tsx";
import { fieldNameOf, probeOf, PROBES, reviewedPathOf, titleOf } from "./field-path.ts";
import { Outcome, OUTCOMES, STATES } from "./outcome.tsx";
import { Value } from "./value.tsx";

/** The place of a probe in the page, by its place in the strip. */
export const anchorOf = (index: number): string => `probe-${index}`;

/** The strip of outcomes, then each probe with its fields in the catalog's order. */
export function Observations({ opened }: { readonly opened: Answer<"readObservations"> }) {
  const { event, withheld, audit_entry } = opened;
  const { probes, fields } = useMemo(() => {
    const raw = opened.observations as Readonly<Record<string, unknown>>;
    const all = [...describeFields(raw, event.platform)];
    const ofProbe = Map.groupBy(all, ({ path }) => probeOf(path));
    return { probes: describeProbes(raw), fields: ofProbe };
  }, [opened, event]);
  const hidden = Map.groupBy(withheld, probeOf);
  const isEmpty = ({ probe, state }: ProbeState): boolean =>
    state === "observed" && !fields.has(probe) && !hidden.has(probe);
  // The place that the address names appears with the observations.
  useEffect(() => {
    document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, []);
  return (
    <>
      <Strip probes={probes} isEmpty={isEmpty} />
      {withheld.length > 0 && (
        <p className="note">
          {withheld.length} {withheld.length === 1 ? "field is" : "fields are"} not shown: your roles read fields of low
          and medium sensitivity.
        </p>
      )}
      {probes.map((probe, index) => (
        <ProbeSection
          key={probe.probe}
          probe={probe}
          id={anchorOf(index)}
          fields={fields.get(probe.probe) ?? []}
          withheld={hidden.get(probe.probe) ?? []}
        />
      ))}
      <Envelope fields={fields.get("") ?? []} />
      <p className="quiet small">
        Audit entry <span className="mono">{audit_entry}</span>
      </p>
    </>
  );
}

const EMPTY = "○";

interface StripProps {
  readonly probes: readonly ProbeState[];
  /** Whether a probe ran and reported no field. */
  readonly isEmpty: (probe: ProbeState) => boolean;
}

function Strip({ probes, isEmpty }: StripProps) {
  const empty = probes.filter(isEmpty);
  const wordsOf = (probe: ProbeState): string =>
    visible(`${titleOf(probe.probe)}: ${OUTCOMES[probe.state].word}${isEmpty(probe) ? ", no field" : ""}`);
  return (
    <figure className="strip">
      <ol>
        {probes.map((probe, index) => (
          <li key={probe.probe}>
            <a
              href={`#${anchorOf(index)}`}
              className={`cell outcome-${probe.state}`}
              title={[wordsOf(probe), visible(probe.reason ?? "")].filter(Boolean).join(", ")}
            >
              <span aria-hidden="true">{isEmpty(probe) ? EMPTY : OUTCOMES[probe.state].mark}</span>
              <span className="visually-hidden">{wordsOf(probe)}</span>
            </a>
          </li>
        ))}
      </ol>
      <figcaption>
        {STATES.map((state) => (
          <span key={state} title={OUTCOMES[state].what}>
            <Outcome state={state} />{" "}
            <span className="numbers quiet">{probes.filter((probe) => probe.state === state).length}</span>
          </span>
        ))}
        {empty.length > 0 && (
          <span className="quiet">
            {EMPTY} <span className="numbers">{empty.length}</span> of the observed without a field
          </span>
        )}
      </figcaption>
    </figure>
  );
}

interface ProbeProps {
  readonly probe: ProbeState;
  readonly id: string;
  readonly fields: readonly ObservedField[];
  /** Paths of fields that the person's roles do not read. */
  readonly withheld: readonly string[];
}

function ProbeSection({ probe: { probe, state, reason }, id, fields, withheld }: ProbeProps) {
  const [showsAbsent, setShowsAbsent] = useState(false);
  const declared = PROBES.get(probe);
  // A probe that gave no data has no fields to tell apart.
  const has = new Set([...fields.map(({ path }) => path), ...withheld].map((path) => fieldNameOf(path).split(".")[0]));
  const absent =
    state === "observed" && declared ? Object.entries(declared.fields).filter(([name]) => !has.has(name)) : [];
  return (
    <section className="probe" id={id}>
      <header>
        <h3>
          <Foreign text={titleOf(probe)} />
        </h3>
        <Outcome state={state} reason={reason} />
        {state === "observed" && has.size === 0 && (
          <span className="quiet">
            {absent.length === 0 ? "no field" : `none of ${absent.length} ${absent.length === 1 ? "field" : "fields"}`}
          </span>
        )}
        {!declared && <span className="quiet">The catalog does not know this probe.</span>}
      </header>
      {fields.length > 0 && (
        <table className="table fields-table">
          <FieldColumns />
          <thead className="visually-hidden">
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Value</th>
              <th scope="col">Meaning</th>
            </tr>
          </thead>
          <tbody>
            {fields.map((field) => (
              <FieldRow key={field.path} field={field} />
            ))}
            {showsAbsent &&
              absent.map(([name, { meaning }]) => (
                <tr key={name} className="absent">
                  <th scope="row" className="mono">
                    {name}
                  </th>
                  <td>
                    <Outcome state="omitted" />
                  </td>
                  <td className="quiet">
                    <Marked text={meaning} />
                  </td>
                </tr>
              ))}
          </tbody>
        </table>
      )}
      {absent.length > 0 && (
        <button type="button" className="button quiet-button" onClick={() => setShowsAbsent(!showsAbsent)}>
          {showsAbsent ? "Hide" : "Show"} {absent.length} {absent.length === 1 ? "field" : "fields"} that this event
          omits
        </button>
      )}
    </section>
  );
}

/** The columns have their widths from here, because cells of a hidden head give them none. */
const FieldColumns = () => (
  <colgroup>
    <col />
    <col />
    <col />
  </colgroup>
);

function FieldRow({ field }: { readonly field: ObservedField }) {
  const { path, value, unit, sensitivity, meaning, not_observed: why } = field;
  const canReadReviews = useScope("features.governance") !== undefined;
  const reviewed = reviewedPathOf(path);
  return (
    <tr>
      <th scope="row">
        {reviewed !== undefined && meaning === null && canReadReviews ? (
          <Link to="/drift/$path" params={{ path: reviewed }}>
            <Foreign text={fieldNameOf(path)} isCode />
          </Link>
        ) : (
          <Foreign text={fieldNameOf(path)} isCode />
        )}
      </th>
      <td>
        <Value value={value} />
        {unit !== null && unit !== "none" && <span className="quiet"> {unit}</span>}
        {why !== null && (
          <>
            {" "}
            <span className="tag">no observation: {why}</span>
          </>
        )}
      </td>
      <td className="quiet">
        {meaning === null ? <UnknownField path={reviewed} /> : <Marked text={meaning} />}
        {sensitivity !== null && sensitivity !== "low" && (
          <>
            {" "}
            <span className="tag">{sensitivity} sensitivity</span>
          </>
        )}
      </td>
    </tr>
  );
}

/** Members of the event that belong to no probe. */
function Envelope({ fields }: { readonly fields: readonly ObservedField[] }) {
  if (fields.length === 0) return null;
  return (
    <section className="probe">
      <header>
        <h3>The event itself</h3>
      </header>
      <table className="table fields-table">
        <FieldColumns />
        <tbody>
          {fields.map(({ path, value }) => (
            <tr key={path}>
              <th scope="row">
                <Foreign text={fieldNameOf(path)} isCode />
              </th>
              <td colSpan={2}>
                <Value value={value} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
