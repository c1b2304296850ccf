import { Fragment } from "react";
import { Foreign } from "./foreign.tsx";
import { Time } from "./time.tsx";

interface DataProps {
  readonly value: unknown;
  /** The words for a member. */
  readonly nameOf?: (member: string) => string;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isDeep = (value: unknown): boolean =>
  isObject(value) || (Array.isArray(value) && value.some((item) => typeof item === "object" && item !== null));

export const spaced = (member: string): string => {
  const words = member.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** What an operation was given or would do: names and values, as deep as they go. */
export function Data({ value, nameOf = spaced }: DataProps) {
  if (!isObject(value)) return <Value name="" value={value} nameOf={nameOf} />;
  return (
    <dl className="data">
      {Object.entries(value).map(([name, member]) => (
        <Fragment key={name}>
          <dt>
            <Foreign text={nameOf(name)} />
          </dt>
          <dd className={isDeep(member) ? "data-deep" : undefined}>
            <Value name={name} value={member} nameOf={nameOf} />
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
const HASH = /^[0-9a-f]{32,}$/;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

function Value({ name, value, nameOf }: Required<DataProps> & { readonly name: string }) {
  if (value === null || value === undefined) return <span className="quiet">none</span>;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return <span className="numbers">{numberOf(name, value)}</span>;
  if (typeof value === "string") {
    if (TIME.test(value)) return <Time at={value} />;
    return <Foreign text={value} isCode={HASH.test(value)} />;
  }
  if (!Array.isArray(value)) return <Data value={value} nameOf={nameOf} />;
  if (value.length === 0) return <span className="quiet">none</span>;
  if (!isDeep(value)) return <Foreign text={value.join(", ")} />;
  return (
    <ul className="data-list">
      {value.map((item: unknown, index) => (
        <li key={index}>
          <Value name={name} value={item} nameOf={nameOf} />
        </li>
      ))}
    </ul>
  );
}

/** A number with the unit that its name has. */
function numberOf(name: string, value: number): string {
  const shown = (amount: number, unit: string): string =>
    `${amount.toLocaleString("en", { maximumFractionDigits: 1 })} ${unit}${amount === 1 ? "" : "s"}`;
  if (!name.endsWith("_ms")) return value.toLocaleString("en");
  return value >= DAY_MS ? shown(value / DAY_MS, "day") : shown(value / HOUR_MS, "hour");
}
