import { useSearch, Link } from "@tanstack/react-router";
import { useState } from "react";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Failure } from "../ui/failure.tsx";
import { PageHead } from "../ui/page-head.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { byDay, type Seen } from "./adoption.ts";
import { DayBars } from "./day-bars.tsx";
import { FieldLink } from "./field-link.tsx";
import { ReviewDialog } from "./review-dialog.tsx";
import { REVIEWS } from "./reviews.ts";

/** What is known about one path: its rows differ by type, platform and SDK version. */
interface Path {
  readonly path: string;
  readonly rows: readonly Seen[];
}

export function DriftPage() {
  const { all = false } = useSearch({ from: "/shell/drift" });
  const scope = useScope("counters.read");
  const { data, error, refetch } = useRead("listDrift", { all }, scope !== undefined);
  const paths = [...Map.groupBy(data?.drift ?? [], ({ path }) => path)].map(([path, rows]): Path => ({ path, rows }));
  return (
    <>
      <PageHead
        title="Fields beyond the catalog"
        what="What phones send that the catalog does not know, or sends as another type. It is stored and counted, never refused."
      >
        <Link to="/drift" search={all ? {} : { all: true }} className="button">
          {all ? "Without ignored ones" : "Also ignored ones"}
        </Link>
      </PageHead>
      {scope === undefined && <Forbidden permission="counters.read" what="The list" />}
      {error && <Failure error={error} what="The list could not be read" again={() => void refetch()} />}
      {scope !== undefined && !error && !data && <Skeleton lines={6} />}
      {data && paths.length === 0 && (
        <div className="empty">
          <h2>Every field is in the catalog</h2>
          <p className="quiet">
            A field of a newer SDK or of your app appears here when the first event with it is stored.
          </p>
        </div>
      )}
      {paths.length > 0 && <Paths paths={paths} />}
    </>
  );
}

function Paths({ paths }: { readonly paths: readonly Path[] }) {
  const mayReview = useScope("drift.review") !== undefined;
  const [reviewing, setReviewing] = useState<Path>();
  return (
    <>
      {!mayReview && <Forbidden permission="drift.review" what="A review" />}
      <div className="table-scroll" tabIndex={0} role="region" aria-label="Fields beyond the catalog">
        <table className="table table-wide">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">30 days</th>
              <th scope="col">Type</th>
              <th scope="col">Platform</th>
              <th scope="col">SDK</th>
              <th scope="col">Events</th>
              <th scope="col">First and last seen, UTC</th>
              <th scope="col">Review</th>
            </tr>
          </thead>
          {paths.map((path) => (
            <tbody key={path.path}>
              {path.rows.map((row, index) => (
                <tr key={JSON.stringify([row.json_type, row.platform, row.sdk_version])}>
                  <td>{index === 0 && <FieldLink path={row.path} />}</td>
                  <td>{index === 0 && <DayBars days={byDay(path.rows)} isShort />}</td>
                  <td>{row.json_type}</td>
                  <td>{row.platform}</td>
                  <td>{row.sdk_version}</td>
                  <td className="numbers">{row.occurrences.toLocaleString()}</td>
                  <td>
                    <Time at={row.first_seen} isShort /> – <Time at={row.last_seen} isShort />
                  </td>
                  <td>
                    {index === 0 && (
                      <>
                        {REVIEWS[row.review]}{" "}
                        {mayReview && row.path !== "*" && (
                          <button type="button" className="button" onClick={() => setReviewing(path)}>
                            Review<span className="visually-hidden"> {row.path}</span>
                          </button>
                        )}
                      </>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          ))}
        </table>
      </div>
      {reviewing && (
        <ReviewDialog
          path={reviewing.path}
          types={[...new Set(reviewing.rows.map(({ json_type }) => json_type))]}
          close={() => setReviewing(undefined)}
          reviewed={() => setReviewing(undefined)}
        />
      )}
    </>
  );
}
