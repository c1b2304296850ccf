import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { PageHead } from "../ui/page-head.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { SameEvents } from "./same-events.tsx";
import {
  countOf,
  type Described,
  meaningOf,
  percentOf,
  rangeNameOf,
  type Results,
  type Share,
  valueHeadOf,
} from "./shares.tsx";
import {
  byDifference,
  definitionDifferences,
  differenceOf,
  type SharePair,
  statePairs,
  valuePairs,
} from "./version-differences.ts";

/** Two versions of a feature side by side: what differs most comes first. */
export function CompareVersionsPage() {
  const { feature, other } = useParams({ from: "/shell/features/$feature/compare/$other" });
  const scope = useScope("features.read");
  const one = useRead("describeFeature", { feature }, scope !== undefined);
  const two = useRead("describeFeature", { feature: other }, scope !== undefined);
  const error = one.error ?? two.error;
  return (
    <>
      <p className="crumbs">
        <Link to="/features">Features</Link> ›{" "}
        <Link to="/features/$feature" params={{ feature }}>
          <Foreign text={feature} isCode />
        </Link>
      </p>
      <PageHead title={`${feature} and ${other}`} what="How two versions differ, the largest differences first.">
        {one.data && <Versions versions={one.data.versions} left={feature} right={other} />}
      </PageHead>
      {scope === undefined && <Forbidden permission="features.read" what="A comparison of versions" />}
      {error && (
        <Failure
          error={error}
          what="The versions could not be compared"
          again={() => void Promise.all([one.refetch(), two.refetch()])}
        />
      )}
      {scope !== undefined && !error && (!one.data || !two.data) && <Skeleton lines={8} />}
      {one.data && two.data && (
        <>
          <Definitions left={one.data} right={two.data} />
          <AsComputed left={one.data} right={two.data} />
          <SameEvents left={one.data} right={two.data} />
        </>
      )}
    </>
  );
}

interface VersionsProps {
  readonly versions: readonly string[];
  readonly left: string;
  readonly right: string;
}

/** Chooses the two versions. */
function Versions({ versions, left, right }: VersionsProps) {
  const navigate = useNavigate({ from: "/features/$feature/compare/$other" });
  const choose = (feature: string, other: string): void =>
    void navigate({ to: "/features/$feature/compare/$other", params: { feature, other }, search: {}, replace: true });
  const all = [...new Set([...versions, left, right])];
  const options = all.map((name) => (
    <option key={name} value={name}>
      {name}
    </option>
  ));
  return (
    <>
      <select
        className="input"
        aria-label="The version on the left"
        value={left}
        onChange={({ target }) => choose(target.value, right)}
      >
        {options}
      </select>
      <select
        className="input"
        aria-label="The version on the right"
        value={right}
        onChange={({ target }) => choose(left, target.value)}
      >
        {options}
      </select>
    </>
  );
}

interface BothProps {
  readonly left: Described;
  readonly right: Described;
}

function Definitions({ left, right }: BothProps) {
  const differences = definitionDifferences(left, right);
  return (
    <section aria-labelledby="definitions">
      <div className="section-head">
        <h2 id="definitions">The definitions</h2>
      </div>
      {differences.length === 0 ? (
        <p className="quiet">They are the same program with the same inputs and outputs.</p>
      ) : (
        <>
          <p>
            <Foreign text={right.feature} isCode />, compared with <Foreign text={left.feature} isCode />:
          </p>
          <ul className="bullets">
            {differences.map((difference) => (
              <li key={difference}>
                <Foreign text={difference} />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

const NOTHING: Results = { events: 0, states: [], values: [] };

/** What workers counted of each version. The two may have been computed for other events. */
function AsComputed({ left, right }: BothProps) {
  const [ofLeft = NOTHING, ofRight = NOTHING] = [left.groups[0], right.groups[0]];
  const values = valuePairs({ ...left, ...ofLeft }, { ...right, ...ofRight });
  return (
    <section aria-labelledby="computed">
      <div className="section-head">
        <h2 id="computed">As they were computed</h2>
        <span className="quiet">
          events received from {left.from} until before {left.to}, each version for its own events
        </span>
      </div>
      {ofLeft.events === 0 || ofRight.events === 0 ? (
        <p>
          <Foreign text={(ofLeft.events === 0 ? left : right).feature} isCode /> was computed for no event, or for fewer
          than ten: compute both for the same events below.
        </p>
      ) : (
        <>
          <p className="quiet numbers">
            <Foreign text={left.feature} />: {countOf(ofLeft.events)} events; <Foreign text={right.feature} />:{" "}
            {countOf(ofRight.events)} events. Numbers are rounded down to tens. A difference needs a hundred events of
            each version, and ten of a row. Groups of numbers that only one version has are joined.
          </p>
          <Pairs head="State" pairs={statePairs(ofLeft, ofRight)} left={left} right={right} />
          <Pairs
            head={valueHeadOf(right)}
            pairs={values}
            nameOf={(name) =>
              rangeNameOf(
                name,
                values.map((value) => value.name),
                right.output,
              )
            }
            left={left}
            right={right}
          />
        </>
      )}
    </section>
  );
}

interface PairsProps extends BothProps {
  readonly head: string;
  readonly pairs: readonly SharePair[];
  readonly nameOf?: (name: string) => string;
}

const Pairs = ({ head, pairs, nameOf = (name) => name, left, right }: PairsProps) => (
  <div className="table-scroll" tabIndex={0} role="region" aria-label={`Table: ${head}`}>
    <table className="table pair-table">
      <thead>
        <tr>
          <th scope="col">{head}</th>
          <th scope="col">
            <Foreign text={left.feature} isCode />
          </th>
          <th scope="col">
            <Foreign text={right.feature} isCode />
          </th>
          <th scope="col">Difference</th>
        </tr>
      </thead>
      <tbody>
        {byDifference(pairs).map((pair) => (
          <tr key={pair.name}>
            <th scope="row" title={meaningOf(pair.name)}>
              <Foreign text={nameOf(pair.name)} isCode />
            </th>
            <Side share={pair.left} of={left.feature} />
            <Side share={pair.right} of={right.feature} />
            <td className="numbers">{pointsOf(differenceOf(pair))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const Side = ({ share, of }: { readonly share: Share | undefined; readonly of: string }) => (
  <td>
    {share === undefined ? (
      <span className="quiet">never</span>
    ) : share.share === null ? (
      <span className="numbers">{countOf(share.events)} events</span>
    ) : (
      <>
        <meter value={share.share} aria-label={`Share in ${of}`} />{" "}
        <span className="numbers">{percentOf(share.share)}</span>
      </>
    )}
  </td>
);

/** Such as "+9 points" and "no difference". */
function pointsOf(difference: number | undefined): string {
  if (difference === undefined) return "too few events";
  const points = Math.round(difference * 1_000) / 10;
  if (points === 0) return "none";
  return `${points > 0 ? "+" : "−"}${Math.abs(points)} point${Math.abs(points) === 1 ? "" : "s"}`;
}
