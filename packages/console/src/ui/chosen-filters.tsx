import { Link } from "@tanstack/react-router";
import { Foreign } from "./foreign.tsx";

interface ChosenFiltersProps {
  /** The path of the list. */
  readonly to: "/live" | "/rejections/latest";
  readonly search: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

/** The filters that the address has, each with a link to the list without it. */
export function ChosenFilters({ to, search, labels }: ChosenFiltersProps) {
  const names = Object.keys(search);
  if (names.length === 0) return null;
  return (
    <ul className="chips" aria-label="Chosen filters">
      {names.map((name) => {
        const { [name]: value = "", ...others } = search;
        return (
          <li key={name} className="chip">
            <span className="quiet">{labels[name]}</span> <Foreign text={value} isCode />
            <Link to={to} search={others} className="chip-remove" aria-label={`Remove ${labels[name]}`}>
              ×
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
