import type { Answer, Input } from "@device-risk-signals/admin-api";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { call } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { ChosenFilters } from "../ui/chosen-filters.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign, visible } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { ExampleCurl } from "./example-curl.tsx";
import { LATEST_FILTERS, type LatestFilter, type LatestSearch } from "./latest-search.ts";
import { RejectionTabs } from "./rejection-tabs.tsx";
import { Fact, RejectionFacts, titleOf } from "./rejection-facts.tsx";

type Page = Answer<"listRecentRejections">;
type Rejection = Page["rejections"][number];

const LIMIT = 100;
const EVERY_MS = 2_000;

export function LatestPage() {
  const scope = useScope("rejections.read");
  const search = useSearch({ from: "/shell/rejections/latest" });
  return (
    <>
      <RejectionTabs what="Requests as they are refused: of each account the last 20, for a day. Times are in UTC." />
      {scope === undefined ? (
        <Forbidden permission="rejections.read" what="The list of the latest rejected requests" />
      ) : (
        <>
          {scope === "pseudonyms" && <p className="note">Accounts are shown as pseudonyms.</p>}
          <ChosenFilters to="/rejections/latest" search={search} labels={LATEST_FILTERS} />
          <Latest search={search} canFilter={scope === "full"} />
        </>
      )}
    </>
  );
}

interface LatestProps {
  readonly search: LatestSearch;
  /** Whether the person may search by an account. */
  readonly canFilter: boolean;
}

function Latest({ search, canFilter }: LatestProps) {
  const list = useInfiniteQuery({
    queryKey: ["listRecentRejections", search],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: after }) =>
      call("listRecentRejections", {
        ...(search as Input<"listRecentRejections">),
        limit: LIMIT,
        ...(after !== undefined && { after }),
      }),
    getNextPageParam: ({ next }: Page) => next ?? undefined,
    // A hidden page asks nothing. A person who reads older ones is not moved away from them.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : EVERY_MS),
    staleTime: 0,
  });
  if (list.isPending) return <Skeleton lines={8} />;
  const rows = list.data?.pages.flatMap(({ rejections }) => rejections) ?? [];
  const isFollowing = (list.data?.pages.length ?? 0) <= 1;
  return (
    <>
      {list.error && (
        <Failure error={list.error} what="The latest rejections could not be read" again={() => void list.refetch()} />
      )}
      {!list.error && rows.length === 0 && <None isFiltered={Object.keys(search).length > 0} />}
      {rows.length > 0 && (
        <>
          <p className="rejections-head latest" aria-hidden="true">
            <span>Received</span>
            <span>Problem</span>
            <span>Place</span>
            <span />
            <span>Account</span>
          </p>
          <ul className="rejections latest">
            {rows.map((row) => (
              <Row key={row.rejection_id} row={row} search={search} canFilter={canFilter} />
            ))}
          </ul>
        </>
      )}
      {rows.length > 0 && (
        <footer className="list-foot">
          {list.hasNextPage ? (
            <button
              type="button"
              className="button"
              disabled={list.isFetchingNextPage}
              onClick={() => void list.fetchNextPage()}
            >
              Older ones
            </button>
          ) : (
            <p className="quiet">
              These are all that are kept. <Link to="/rejections">By rule</Link>, every one is counted.
            </p>
          )}
          {!isFollowing && <p className="quiet">The list stands still. Open the tab again to follow it.</p>}
        </footer>
      )}
    </>
  );
}

const None = ({ isFiltered }: { readonly isFiltered: boolean }) => (
  <div className="empty">
    <h2>{isFiltered ? "No kept request has these filters" : "No request was refused in the last 24 hours"}</h2>
    <p className="quiet">
      A refused request appears here within two seconds, with its time, status, rule, place, SDK version and account.
      Its values and its idempotency key are not kept. After a day, or a crash of the database, only the counts{" "}
      <Link to="/rejections">by rule</Link> remain.
    </p>
  </div>
);

interface RowProps extends LatestProps {
  readonly row: Rejection;
}

function Row({ row, search, canFilter }: RowProps) {
  const { at, problem, cause, rules, more, sdk_version, account } = row;
  const [first] = rules;
  const { violation, place } = first ?? { violation: null, place: null };
  return (
    <li>
      <details name="rejection">
        <summary>
          <Time at={at} isShort />
          <span>
            <Foreign text={titleOf(problem)} />
            {violation !== null && (
              <>
                : <Foreign text={violation} />
              </>
            )}
            {cause !== null && (
              <>
                : <Foreign text={cause} />
              </>
            )}
            {rules.length > 1 && (
              <span className="tag">and {more ? `at least ${rules.length}` : rules.length - 1} more</span>
            )}
          </span>
          <span className="quiet mono">{place !== null && <Foreign text={place} />}</span>
          <span className="quiet">{sdk_version !== null && <Foreign text={`SDK ${sdk_version}`} />}</span>
          <span>{account === null ? <span className="quiet">no account</span> : <Foreign text={account} />}</span>
        </summary>
        <RejectionFacts problem={problem} cause={cause} rules={rules}>
          {more && <Fact name="Further rules">It broke more than these; the client got up to 100.</Fact>}
          <Fact name="Account">
            {account === null ? (
              "none: it was refused before it was known, or the account is erased"
            ) : (
              <Foreign text={account} />
            )}
          </Fact>
        </RejectionFacts>
        <ExampleCurl problem={problem} cause={cause} violation={violation} place={place} />
        <div className="rejection-actions">
          <Filter search={search} name="problem" value={problem} />
          {sdk_version !== null && <Filter search={search} name="sdk_version" value={sdk_version} />}
          {account !== null && canFilter && (
            <>
              <Filter search={search} name="account" value={account} />
              <Link
                to="/events/key"
                search={{ account }}
                title="The key of a refused request is not kept: have it ready"
              >
                What became of a key of this account
              </Link>
              <Link to="/events" search={{ account }}>
                Its events
              </Link>
            </>
          )}
        </div>
      </details>
    </li>
  );
}

interface FilterProps {
  readonly search: LatestSearch;
  readonly name: LatestFilter;
  readonly value: string;
}

const Filter = ({ search, name, value }: FilterProps) =>
  search[name] === value ? null : (
    <Link to="/rejections/latest" search={{ ...search, [name]: value }} title={visible(value)}>
      Only this {LATEST_FILTERS[name]}
    </Link>
  );
