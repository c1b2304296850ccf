import type { Answer } from "@device-risk-signals/admin-api";
import { Link, useParams } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { PROBES } from "../events/field-path.ts";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Marked } from "../ui/marked.tsx";
import { PageHead } from "../ui/page-head.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { byDay, byVersion, eventsOf, type Seen } from "./adoption.ts";
import { DayBars } from "./day-bars.tsx";
import { FieldLink } from "./field-link.tsx";
import { ReviewDialog } from "./review-dialog.tsx";
import { REVIEWS } from "./reviews.ts";

type Field = Answer<"readDrift">;

/** A field: what it is, which events have it, which features read it, and what was decided about it. */
export function FieldPage() {
  const { path } = useParams({ from: "/shell/drift/$path" });
  const scope = useScope("features.governance");
  const { data, error, refetch } = useRead("readDrift", { path }, scope !== undefined);
  const seen = data?.seen.filter((row) => row.path === path) ?? [];
  return (
    <>
      <p className="crumbs">
        <Link to="/drift">Fields beyond the catalog</Link>
      </p>
      <PageHead title={path} what="What it is, which events have it, and which features read it.">
        {seen.length > 0 && <Review path={path} seen={seen} reviewed={() => void refetch()} />}
      </PageHead>
      {scope === undefined && <Forbidden permission="features.governance" what="A field" />}
      {error && <Failure error={error} what="The field could not be read" again={() => void refetch()} />}
      {scope !== undefined && !error && !data && <Skeleton lines={8} />}
      {data && (
        <>
          <Facts path={path} field={data} seen={seen} />
          <Readers field={data} path={path} />
          <Adoption path={path} seen={seen} />
          <Related path={path} field={data} />
          <Decisions field={data} />
        </>
      )}
    </>
  );
}

interface ReviewProps {
  readonly path: string;
  readonly seen: readonly Seen[];
  readonly reviewed: () => void;
}

function Review({ path, seen, reviewed }: ReviewProps) {
  const mayReview = useScope("drift.review") !== undefined;
  const [isReviewing, setReviewing] = useState(false);
  if (!mayReview) return null;
  return (
    <>
      <button type="button" className="button primary" onClick={() => setReviewing(true)}>
        Review
      </button>
      {isReviewing && (
        <ReviewDialog
          path={path}
          types={[...new Set(seen.map(({ json_type }) => json_type))]}
          close={() => setReviewing(false)}
          reviewed={() => (setReviewing(false), reviewed())}
        />
      )}
    </>
  );
}

/** The field of the catalog, if it has the path. */
function declared(path: string) {
  const [probe = "", name = "", member] = path.split(".");
  // Own members alone: a path of a client can be `fonts.constructor`.
  const own = <T,>(of: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
    of && Object.hasOwn(of, key) ? of[key] : undefined;
  const field = own(PROBES.get(probe)?.fields, name);
  return member === undefined ? field : own(field?.fields, member);
}

interface FactsProps {
  readonly path: string;
  readonly field: Field;
  readonly seen: readonly Seen[];
}

function Facts({ path, field: { overlay }, seen }: FactsProps) {
  const known = declared(path);
  const accepted = overlay.find((one) => one.path === path);
  const of = known ?? accepted;
  return (
    <dl className="facts">
      <Fact name="Meaning">
        {known ? (
          <Marked text={known.meaning} />
        ) : accepted ? (
          "Accepted in a review; the catalog has it from the release that declares it."
        ) : (
          "The catalog does not know it: it is stored and counted, and no feature may read it."
        )}
      </Fact>
      <Fact name="Type">
        {of ? [of.type, of.unit].filter((part) => part && part !== "none").join(", ") : "not decided"}
        {seen.length > 0 && (
          <span className="quiet">
            ; seen beside the catalog as {[...new Set(seen.map(({ json_type }) => json_type))].join(", ")}
          </span>
        )}
      </Fact>
      <Fact name="Sensitivity">
        {of ? of.sensitivity : "not decided"}
        {accepted && !accepted.is_classified && <span className="quiet">, until privacy classifies it</span>}
      </Fact>
      <Fact name="Review">{seen[0] ? REVIEWS[seen[0].review] : "nothing to review"}</Fact>
    </dl>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

function Readers({ path, field: { read_by } }: Pick<FactsProps, "path" | "field">) {
  return (
    <section aria-labelledby="readers">
      <div className="section-head">
        <h2 id="readers">Features that read it</h2>
      </div>
      {read_by.length === 0 ? (
        <p className="quiet">
          No feature reads it. A definition may name it once it is in the catalog or accepted; drs feature lock knows it
          then.
        </p>
      ) : (
        <div className="table-scroll" tabIndex={0} role="region" aria-label="Features that read this path">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Feature</th>
                <th scope="col">Reads</th>
                <th scope="col">Computed now for</th>
              </tr>
            </thead>
            <tbody>
              {read_by.map((reader) => (
                <tr key={`${reader.feature} ${reader.path}`}>
                  <th scope="row">
                    <Link to="/features/$feature" params={{ feature: reader.feature }} className="mono">
                      {reader.feature}
                    </Link>
                  </th>
                  <td>{reader.path === path ? "this field" : <Foreign text={reader.path} isCode />}</td>
                  <td>{reader.computed_for.join(", ") || <span className="quiet">no purpose</span>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Adoption({ path, seen }: Pick<FactsProps, "path" | "seen">) {
  const days = byDay(seen);
  return (
    <section aria-labelledby="adoption">
      <div className="section-head">
        <h2 id="adoption">Adoption</h2>
        {days.length > 0 && (
          <span className="quiet">
            events with it {declared(path) && "as another type "}by day in UTC, up to {days.at(-1)?.day}
          </span>
        )}
      </div>
      {days.length === 0 ? (
        <p className="quiet">
          No event had it beside the catalog.{" "}
          {declared(path) && (
            <>
              How often its probe reported: <Link to="/probes">Probe health</Link>.
            </>
          )}
        </p>
      ) : (
        <>
          <figure className="trend-figure">
            <DayBars days={days} />
            <figcaption className="quiet small numbers trend-axis">
              <span>{days[0]?.day}</span>
              <span>{days.at(-1)?.day}</span>
            </figcaption>
          </figure>
          <Versions path={path} seen={seen} />
        </>
      )}
    </section>
  );
}

/** Days whose outcomes a summary can have. */
const MAX_DAYS = 92;
const DAY_MS = 86_400_000;

/** The share of the reports of the probe that have the field, by SDK version since the field was first seen. */
function useReports(path: string, seen: readonly Seen[]): ReadonlyMap<string, number> {
  const probe = path.split(".")[0] ?? "";
  const first = seen.map(({ first_seen }) => first_seen).toSorted()[0] ?? "";
  const isCounted = PROBES.has(probe) && Date.parse(first) > Date.now() - MAX_DAYS * DAY_MS;
  const canRead = useScope("counters.read") !== undefined;
  const input = { by: "sdk_version", probe, from: first } as const;
  const { data } = useRead("summarizeOutcomes", input, isCounted && canRead);
  const reports = data?.outcomes.filter(({ state }) => state === "success") ?? [];
  return new Map(reports.map(({ group, occurrences }) => [group, occurrences]));
}

function Versions({ path, seen }: Pick<FactsProps, "path" | "seen">) {
  const reports = useReports(path, seen);
  return (
    <div className="table-scroll" tabIndex={0} role="region" aria-label="Adoption by SDK version">
      <table className="table group-table">
        <thead>
          <tr>
            <th scope="col">SDK</th>
            <th scope="col">Events</th>
            <th scope="col">Of the reports of its probe since then</th>
            <th scope="col">Types</th>
            <th scope="col">Platforms</th>
            <th scope="col">First and last seen, UTC</th>
          </tr>
        </thead>
        <tbody>
          {byVersion(seen).map(([version, rows]) => {
            const events = eventsOf(rows);
            const of = reports.get(version) ?? 0;
            // The two counters are written at different moments.
            const share = of === 0 ? undefined : Math.min(1, events / of);
            return (
              <tr key={version}>
                <th scope="row">
                  <Foreign text={version} />
                </th>
                <td className="numbers">{events.toLocaleString("en")}</td>
                <td>
                  {share === undefined ? (
                    <span className="quiet">not known</span>
                  ) : (
                    <>
                      <meter value={share} aria-label={`Share of the reports of ${version}`} />{" "}
                      <span className="numbers">
                        {Math.round(share * 100)} % of {of.toLocaleString("en")}
                      </span>
                    </>
                  )}
                </td>
                <td>{[...new Set(rows.map(({ json_type }) => json_type))].join(", ")}</td>
                <td>{[...new Set(rows.map(({ platform }) => platform))].join(", ")}</td>
                <td>
                  <Time at={rows.map(({ first_seen }) => first_seen).toSorted()[0] ?? ""} isShort /> –{" "}
                  <Time
                    at={
                      rows
                        .map(({ last_seen }) => last_seen)
                        .toSorted()
                        .at(-1) ?? ""
                    }
                    isShort
                  />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** Paths above and below this one that events had. */
function Related({ path, field: { seen } }: Pick<FactsProps, "path" | "field">) {
  const others = [...new Set(seen.map((row) => row.path))].filter((other) => other !== path);
  if (others.length === 0) return null;
  return (
    <section aria-labelledby="related">
      <div className="section-head">
        <h2 id="related">Seen above it and below it</h2>
      </div>
      <ul className="feature-links">
        {others.map((other) => (
          <li key={other}>
            <FieldLink path={other} />
          </li>
        ))}
      </ul>
    </section>
  );
}

const KINDS: Readonly<Record<string, string>> = {
  accepted: "Accepted",
  classified: "Classified",
  ignored: "Ignored",
  rejected: "Rejected",
};

function Decisions({ field: { decisions } }: Pick<FactsProps, "field">) {
  if (decisions.length === 0) return null;
  return (
    <section aria-labelledby="decisions">
      <div className="section-head">
        <h2 id="decisions">What was decided</h2>
        <span className="quiet">newest first</span>
      </div>
      <ol className="decisions">
        {decisions.map(({ path, kind, type, sensitivity, ignored_until, decided_at, decided_by, reason }) => (
          <li key={`${decided_at} ${path}`}>
            <p>
              <strong>{KINDS[kind]}</strong>
              {kind === "accepted" && ` as ${type}`}
              {kind === "classified" && ` as of ${sensitivity} sensitivity`}
              {ignored_until !== null && ` until ${ignored_until}`} by <Foreign text={decided_by} />,{" "}
              <span className="quiet">
                <Time at={decided_at} />
              </span>
            </p>
            <p>
              <Foreign text={path} isCode />: <Foreign text={reason} />
            </p>
          </li>
        ))}
      </ol>
    </section>
  );
}
