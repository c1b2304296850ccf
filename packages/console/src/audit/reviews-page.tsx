import type { Answer } from "@device-risk-signals/admin-api";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { call, keyOf, queryClient, useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { ActionDialog } from "../ui/action-dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { relative, Time } from "../ui/time.tsx";
import { AuditTabs } from "./audit-tabs.tsx";
import { searchOfEntry } from "./entries-search.ts";
import { personOf, wordsOfOperation } from "./operation-words.ts";

type Review = Answer<"listReviews">["reviews"][number];

export function ReviewsPage() {
  const scope = useScope("audit.review");
  const { data, error, refetch } = useRead("listReviews", {}, scope !== undefined);
  return (
    <>
      <AuditTabs what="Entries that need an explanation, chosen by an auditor or by each use of --break-glass." />
      {scope === undefined && <Forbidden permission="audit.review" what="The list of reviews" />}
      {error && <Failure error={error} what="The reviews could not be read" again={() => void refetch()} />}
      {scope !== undefined && !error && !data && <Skeleton lines={4} />}
      {data?.reviews.length === 0 && (
        <div className="empty">
          <h2>No review is open</h2>
          <p className="quiet">
            A command on the database that reads events or destroys data in an emergency (<code>--break-glass</code>)
            opens one by itself. Open another from the details of an entry: <Link to="/audit/entries">Entries</Link>.
          </p>
        </div>
      )}
      {data && data.reviews.length > 0 && <Reviews reviews={data.reviews} />}
    </>
  );
}

function Reviews({ reviews }: { readonly reviews: readonly Review[] }) {
  const [closing, setClosing] = useState<Review>();
  return (
    <>
      <p className="note">Close them soon: while one is open, reasons of an erased account stay readable.</p>
      <div className="table-scroll" tabIndex={0} role="region" aria-label="Open reviews, oldest first">
        <table className="table table-wide">
          <thead>
            <tr>
              <th scope="col">Open since</th>
              <th scope="col">Who</th>
              <th scope="col">What</th>
              <th scope="col">Entry written, UTC</th>
              <th scope="col">Result</th>
            </tr>
          </thead>
          <tbody>
            {reviews.map((review) => (
              <tr key={review.review_id}>
                <td title={review.opened_at}>{relative(review.opened_at)}</td>
                <td title={review.actor}>
                  <Foreign text={personOf(review.actor)} />
                </td>
                <td>{wordsOfOperation(review.operation) ?? <Foreign text={review.operation} isCode />}</td>
                <td>
                  <Link to="/audit/entries" search={searchOfEntry(review)}>
                    <Time at={review.at} isShort />
                  </Link>
                </td>
                <td>
                  <button type="button" className="button row-action" onClick={() => setClosing(review)}>
                    Close
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {closing && (
        <ActionDialog
          title="Close this review?"
          action="Close the review"
          failed="The review was not closed"
          reason={{ label: "Result", isRequired: true, hint: "8 characters or more, for the audit log." }}
          run={async (reason = "") => {
            await call("closeReview", { review_id: closing.review_id, reason });
            await queryClient.invalidateQueries({ queryKey: keyOf("listReviews", {}) });
          }}
          close={() => setClosing(undefined)}
        >
          <p>
            <Foreign text={personOf(closing.actor)} /> {wordsOfOperation(closing.operation) ?? closing.operation},{" "}
            {relative(closing.at)}.
          </p>
        </ActionDialog>
      )}
    </>
  );
}
