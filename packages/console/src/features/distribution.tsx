import { Foreign } from "../ui/foreign.tsx";
import { DayTrend } from "./day-trend.tsx";
import {
  classOf,
  countOf,
  type Described,
  inOrder,
  inWords,
  meaningOf,
  rangeNameOf,
  type Share,
  ShareCell,
  Shares,
  StateBar,
  valueHeadOf,
} from "./shares.tsx";

/** How often a version had each state and value: of all events or by groups, then by day. */
export function Distribution({ described }: { readonly described: Described }) {
  const { from, to, groups, days, is_limited: isLimited } = described;
  const [all] = groups;
  const isGrouped = all !== undefined && (all.platform !== null || all.sdk_version !== null);
  return (
    <>
      <p className="note">
        Events received from {from} until before {to}, as they were when they were computed. Numbers are rounded down to
        tens, a share is of a hundred events or more, and groups of fewer than ten are not shown.
        {isLimited && " There are more groups than these."}
      </p>
      {!all && <p className="empty">No group of ten events or more: values appear as a worker computes them.</p>}
      {all && !isGrouped && (
        <section className="distribution" aria-label="All events">
          <h2>
            All events <span className="quiet numbers">{countOf(all.events)}</span>
          </h2>
          <div className="side-by-side">
            <Shares head="State" shares={inOrder(all.states)} />
            <Shares
              head={valueHeadOf(described)}
              shares={all.values}
              nameOf={(name) =>
                rangeNameOf(
                  name,
                  all.values.map((value) => value.name),
                  described.output,
                )
              }
            />
          </div>
        </section>
      )}
      {isGrouped && (
        <>
          <Groups title="States" described={described} sharesOf={({ states }) => inOrder(states)} />
          <Groups title={valueHeadOf(described)} described={described} sharesOf={({ values }) => values} />
        </>
      )}
      <DayTrend days={days} />
    </>
  );
}

type Group = Described["groups"][number];

const nameOf = ({ platform, sdk_version }: Group): string =>
  [platform, sdk_version].filter((part) => part !== null).join(", ");

interface GroupsProps {
  readonly title: string;
  readonly described: Described;
  readonly sharesOf: (group: Group) => readonly Share[];
}

/** The groups as rows, so that a reader compares them column by column. */
function Groups({ title, described: { groups, output }, sharesOf }: GroupsProps) {
  const all = [...new Set(groups.flatMap((group) => sharesOf(group).map(({ name }) => name)))];
  const isStates = title === "States";
  const names = isStates ? inOrder(all.map((name) => ({ name }))).map(({ name }) => name) : all;
  if (names.length === 0) return null;
  return (
    <section aria-label={title} className="distribution">
      <h2>{title}</h2>
      <div className="table-scroll" tabIndex={0} role="region" aria-label={`Table: ${title}`}>
        <table className="table group-table">
          <thead>
            <tr>
              <th scope="col">Group</th>
              <th scope="col">Events</th>
              {isStates && <th scope="col">Shares</th>}
              {names.map((name) => (
                <th key={name} scope="col" title={meaningOf(name)}>
                  {isStates && <span className={`state-key ${classOf(name)}`} aria-hidden="true" />}
                  <Foreign text={isStates ? name : rangeNameOf(name, names, output)} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups.map((group) => (
              <tr key={nameOf(group)}>
                <th scope="row">
                  <Foreign text={nameOf(group)} />
                </th>
                <td className="numbers">{countOf(group.events)}</td>
                {isStates && (
                  <td title={inWords(group.states)}>
                    <StateBar states={group.states} />
                  </td>
                )}
                {names.map((name) => (
                  <ShareCell key={name} share={sharesOf(group).find((one) => one.name === name)} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
