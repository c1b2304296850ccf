import type { Answer } from "@device-risk-signals/admin-api";
import { Link, useParams } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Actor } from "../ui/actor.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Marked } from "../ui/marked.tsx";
import { PageHead } from "../ui/page-head.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import type { Seen } from "./adoption.ts";
import { declaredField } from "./declared-field.ts";
import { Adoption } from "./field-adoption.tsx";
import { FieldLink } from "./field-link.tsx";
import { ReviewDialog } from "./review-dialog.tsx";
import { REVIEWS } from "./reviews.ts";

type Field = Answer<"readDrift">;

/** A field: what it is, how many events have it, which features read it, and what was decided about it. */
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
      <PageHead title={path} what="What it is, how many events have it, and which features read it.">
        {seen.length > 0 && <Review path={path} seen={seen} />}
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
          <Decisions path={path} field={data} />
        </>
      )}
    </>
  );
}

interface ReviewProps {
  readonly path: string;
  readonly seen: readonly Seen[];
}

function Review({ path, seen }: ReviewProps) {
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
          reviewed={() => setReviewing(false)}
        />
      )}
    </>
  );
}

interface FactsProps {
  readonly path: string;
  readonly field: Field;
  readonly seen: readonly Seen[];
}

function Facts({ path, field: { overlay, decisions }, seen }: FactsProps) {
  const above = decisions.every((one) => one.path !== path)
    ? decisions.find((one) => path.startsWith(`${one.path}.`))
    : undefined;
  const known = declaredField(path);
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
            ; {known ? "sent otherwise" : "sent"} as {[...new Set(seen.map(({ json_type }) => json_type))].join(", ")}
          </span>
        )}
      </Fact>
      <Fact name="Sensitivity">
        {of ? of.sensitivity : "not decided"}
        {accepted && !accepted.is_classified && <span className="quiet">, until privacy classifies it</span>}
      </Fact>
      <Fact name="Review">
        {seen[0] ? REVIEWS[seen[0].review] : "nothing to review"}
        {above && (
          <span className="quiet">
            ; what was decided below is about <Foreign text={above.path} isCode />
          </span>
        )}
      </Fact>
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

function Decisions({ path: of, field: { decisions } }: Pick<FactsProps, "path" | "field">) {
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
              {ignored_until !== null && ` until ${ignored_until}`} by <Actor text={decided_by} />,{" "}
              <span className="quiet">
                <Time at={decided_at} isShort /> UTC
              </span>
            </p>
            <p>
              {path === of ? <Foreign text={path} isCode /> : <FieldLink path={path} />}
              {path !== of &&
                (of.startsWith(`${path}.`) ? ", which has this field" : ", which is below this field")}:{" "}
              <Foreign text={reason} />
            </p>
          </li>
        ))}
      </ol>
    </section>
  );
}
