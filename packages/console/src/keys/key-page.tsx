import { AdminRequestError } from "@device-risk-signals/admin-api/client";
import { Link, useSearch } from "@tanstack/react-router";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Failure } from "../ui/failure.tsx";
import { PageHead } from "../ui/page-head.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { KeyForm } from "./key-form.tsx";
import type { KeySearch } from "./key-search.ts";
import { KeyTimeline } from "./key-timeline.tsx";

export function KeyPage() {
  const search = useSearch({ from: "/shell/events/key" });
  const scope = useScope("events.timeline");
  return (
    <>
      <PageHead
        title="Idempotency key"
        what="Whether a request was stored, sent again, in conflict or erased: when, and how often."
      />
      {scope === undefined ? (
        <Forbidden permission="events.timeline" what="The timeline of a key" />
      ) : (
        <>
          <KeyForm key={JSON.stringify(search)} search={search} />
          <Found search={search} />
        </>
      )}
    </>
  );
}

const isNotFound = (error: unknown): boolean => error instanceof AdminRequestError && error.code === "not-found";

function Found({ search: { account, key } }: { readonly search: KeySearch }) {
  const isAsked = account !== undefined && key !== undefined;
  const input = { account: account ?? "", idempotency_key: key ?? "" };
  const { data, error, refetch } = useRead("readTimeline", input, isAsked);
  if (!isAsked) return <Ask text={key} />;
  if (isNotFound(error)) return <NoKey account={input.account} />;
  if (error) return <Failure error={error} what="The timeline could not be read" again={() => void refetch()} />;
  if (!data) return <Skeleton lines={5} />;
  return <KeyTimeline account={input.account} timeline={data} again={() => void refetch()} />;
}

/** An account may have the form of a key: the search line takes it for one. */
const Ask = ({ text }: { readonly text: string | undefined }) => (
  <p className="quiet">
    {text !== undefined && (
      <>
        If it is an account,{" "}
        <Link to="/events" search={{ account: text }}>
          search it as an account
        </Link>
        .{" "}
      </>
    )}
    A key belongs to the account that sent it: two accounts may use the same one. The page of an event links to the
    timeline of its key. The search line takes an account, a space and a key of at least 16 characters.
  </p>
);

function NoKey({ account }: { readonly account: string }) {
  const canSeeErasures = useScope("governance.read") !== undefined;
  return (
    <div className="empty">
      <h2>No event of this account holds this key</h2>
      <ul className="reasons">
        <li>No request with this key was stored. A refused request leaves its key unused.</li>
        <li>The event expired, and its replay window is over: the same key would be stored as a new event.</li>
        {!canSeeErasures && <li>The event was erased. The roles privacy and auditor see that, and since when.</li>}
        <li>The account is another one, or is written differently.</li>
      </ul>
      <p className="key-links">
        <Link to="/events" search={{ account }}>
          Events of this account
        </Link>
        <Link to="/rejections/latest" search={{ account }}>
          Its latest rejected requests
        </Link>
      </p>
    </div>
  );
}
