import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { call, queryClient } from "../app/api.ts";
import { BASE_URL } from "../app/base.ts";
import { useScope } from "../app/session.tsx";
import { ActionDialog } from "../ui/action-dialog.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Data } from "../ui/data.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Time } from "../ui/time.tsx";
import { type Entry, searchOfEntry } from "./entries-search.ts";
import { wayOf } from "./operation-words.ts";

const HASH = /^[0-9a-f]{32,}$/;

/** All that an entry has. */
export function EntryDetails({ entry }: { readonly entry: Entry }) {
  const { entry_id, at, actor, via, roles, operation, outcome, account, event_id, occurrences } = entry;
  const { reason, detail, unreadable, category, ticket, case_id, approval_id, verified } = entry;
  const link = `${BASE_URL}/audit/entries?${new URLSearchParams(searchOfEntry(entry)).toString()}`;
  return (
    <article className="entry" aria-label={`Entry ${entry_id}`}>
      <dl className="facts">
        <Fact name="Written">
          <Time at={at} />
        </Fact>
        <Fact name="Actor">
          <Foreign text={actor} />
          <span className="quiet">, by {wayOf(via)}</span>
        </Fact>
        {roles && <Fact name="Roles then">{roles.join(", ")}</Fact>}
        <Fact name="Operation and outcome">
          <Foreign text={operation} isCode />: <Foreign text={outcome} />
          {occurrences > 1 && `, ${occurrences.toLocaleString("en")} times`}
        </Fact>
        {event_id !== null && (
          <Fact name="Event">
            <Link to="/events/$eventId" params={{ eventId: event_id }} className="mono">
              {event_id}
            </Link>
          </Fact>
        )}
        {account !== null && (
          <Fact name="Account">
            <Foreign text={account} isCode />
            {HASH.test(account) && (
              <span className="quiet small"> a keyed hash: the log has no names of customers</span>
            )}
          </Fact>
        )}
        {reason !== null && (
          <Fact name="Reason">
            <Foreign text={reason} />
          </Fact>
        )}
        {(case_id ?? ticket ?? category) !== null && (
          <Fact name="Case">
            {[category, ticket, case_id]
              .filter((one) => one !== null)
              .map((one) => (
                <span key={one}>
                  <Foreign text={one} />{" "}
                </span>
              ))}
          </Fact>
        )}
        {approval_id !== null && (
          <Fact name="Approval">
            <Link to="/approvals/$approvalId" params={{ approvalId: approval_id }} className="mono">
              {approval_id}
            </Link>
          </Fact>
        )}
        <Fact name="Checked">
          {verified === true && "yes: a process of the server wrote it"}
          {verified === null && "not yet: a worker does so within seconds"}
          {verified === false && "a login of the database inserted it, so it counts as no person's act; review it"}
        </Fact>
        <Fact name="Entry id">
          <span className="mono">{entry_id}</span>
        </Fact>
      </dl>
      {unreadable ? (
        <p className="note">Reason and detail were sealed under a key that is destroyed: its account was erased.</p>
      ) : (
        detail !== null &&
        typeof detail === "object" && (
          <section>
            <h2>Detail</h2>
            <Data value={detail} />
          </section>
        )
      )}
      <div className="entry-actions">
        <CopyButton text={link} label="Copy link to this entry" />
        <OpenReview entry={entry} />
      </div>
    </article>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

function OpenReview({ entry }: { readonly entry: Entry }) {
  const scope = useScope("audit.review");
  const [isAsking, setAsking] = useState(false);
  const [isOpen, setOpen] = useState(false);
  if (scope === undefined) return null;
  if (isOpen) {
    return (
      <p role="status">
        Its review is open: <Link to="/audit/reviews">go to the reviews</Link>.
      </p>
    );
  }
  return (
    <>
      <button type="button" className="button" onClick={() => setAsking(true)}>
        Open a review
      </button>
      {isAsking && (
        <ActionDialog
          title="Open a review of this entry?"
          action="Open the review"
          failed="The review was not opened"
          reason={{
            label: "What needs an explanation",
            isRequired: true,
            hint: "8 characters or more, for the audit log. Write no names of customers.",
          }}
          run={async (reason = "") => {
            await call("openReview", { entry_id: entry.entry_id, reason });
            await queryClient.invalidateQueries({ queryKey: ["listReviews"] });
            setOpen(true);
          }}
          close={() => setAsking(false)}
        >
          <p>Until it is closed, no evidence about the entry is destroyed, even if its account is erased.</p>
        </ActionDialog>
      )}
    </>
  );
}
