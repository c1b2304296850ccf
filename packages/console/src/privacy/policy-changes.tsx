import type { Answer } from "@device-risk-signals/admin-api";
import { Foreign } from "../ui/foreign.tsx";
import { Time } from "../ui/time.tsx";
import { isPeriodName, type PolicyPurpose } from "./policy-text.ts";
import { countOf, periodWords } from "./words.ts";

export type PolicyChange = Answer<"applyPolicy">["changes"][number];

const CHANGES = {
  added: "is new",
  changed: "changes",
  retired: "accepts no new events",
  removed: "is removed",
} as const;

const MEMBERS: Readonly<Record<string, string>> = {
  raw_retention: "period of events",
  derived_retention: "period of derived values",
  legal_basis: "legal basis",
  highest_sensitivity: "highest sensitivity",
  export_attributes: "attributes of exports",
};

/** Number of events that expire at once. */
export const deletedBy = (changes: readonly PolicyChange[]): number =>
  changes.reduce((sum, change) => sum + ("purpose" in change ? change.expire_at_once : 0), 0);

interface PolicyChangesProps {
  readonly changes: readonly PolicyChange[];
  /** RFC 3339. */
  readonly countedAt: string;
  /** The purposes before and after the change, if this browser can read them. */
  readonly before: readonly PolicyPurpose[];
  readonly after: readonly PolicyPurpose[];
}

/** Events that would be deleted earlier, and of these the ones at once, as numbers. */
export function PolicyChanges({ changes, countedAt, before, after }: PolicyChangesProps) {
  const purposes = changes.filter((change) => "purpose" in change);
  const atOnce = deletedBy(changes);
  const earlier = purposes.reduce((sum, { expire_earlier }) => sum + expire_earlier, 0);
  if (changes.length === 0) return <p role="status">Nothing would change.</p>;
  return (
    <div className="changes">
      <div role="status">
        <dl className="figures">
          <div>
            <dt>deleted earlier than planned</dt>
            <dd>{countOf(earlier, "event")}</dd>
          </div>
          <div>
            <dt>of these, deleted at once</dt>
            <dd className={atOnce > 0 ? "overdue" : undefined}>{countOf(atOnce, "event")}</dd>
          </div>
        </dl>
      </div>
      <ul className="change-list">
        {changes.map((change) => (
          <li key={JSON.stringify(change)}>
            <OneChange change={change} before={before} after={after} />
          </li>
        ))}
      </ul>
      <p className="quiet">
        Counted at <Time at={countedAt} />. A longer period brings nothing back, and what a hold keeps stays.
      </p>
    </div>
  );
}

type OneChangeProps = Pick<PolicyChangesProps, "before" | "after"> & { readonly change: PolicyChange };

/** Such as "period of events (30 days → 10 days)". */
function differenceOf(member: string, before: PolicyPurpose | undefined, after: PolicyPurpose | undefined): string {
  const name = MEMBERS[member] ?? member;
  if (!before || !after || !isPeriodName(member)) return name;
  return `${name} (${periodWords(before[member])} → ${periodWords(after[member])})`;
}

function OneChange({ change, before, after }: OneChangeProps) {
  if ("purpose" in change) {
    const { purpose, change: what, members, events, expire_earlier, expire_at_once } = change;
    const [old, wanted] = [before, after].map((purposes) => purposes.find(({ id }) => id === purpose));
    const differs = members.map((member) => differenceOf(member, old, wanted)).join(", ");
    return (
      <>
        Purpose <Foreign text={wanted?.title ?? old?.title ?? purpose} /> {CHANGES[what]}
        {what === "changed" && differs !== "" && `: ${differs}`}. Of its {countOf(events, "event")},{" "}
        {expire_earlier.toLocaleString("en")} expire earlier, {expire_at_once.toLocaleString("en")} of them at once.
      </>
    );
  }
  if ("action_type" in change) {
    return (
      <>
        Action type <Foreign text={change.action_type} /> moves from <Foreign text={change.from ?? "no purpose"} /> to{" "}
        <Foreign text={change.to ?? "no purpose"} />; stored events keep theirs.
      </>
    );
  }
  return (
    <>
      Action types without a purpose go to <Foreign text={change.unmapped} /> instead of <Foreign text={change.from} />.
    </>
  );
}
