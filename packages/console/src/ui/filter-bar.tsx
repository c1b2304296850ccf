import { type FormEvent, type ReactNode, useState } from "react";
import { Foreign } from "./foreign.tsx";
import { rangesOf } from "./search-texts.ts";
import { Time } from "./time.tsx";

type Times = "from" | "to";

interface Suggestions {
  /** The name of the filter. */
  readonly of: string;
  readonly placeholder: string;
  readonly values: ReadonlyMap<string, string>;
}

interface FilterBarProps<Name extends string> {
  /** Every filter, by its name in the address. */
  readonly labels: Readonly<Record<Name | Times, string>>;
  readonly search: Partial<Readonly<Record<Name | Times, string>>>;
  /** What the times are of, such as "Received". */
  readonly timesOf: string;
  readonly change: (changes: Partial<Readonly<Record<Name | Times, string | undefined>>>) => void;
  /** Values of one of the filters, and what they are in words. */
  readonly suggestions?: Suggestions;
  /** The link to the list without filters. */
  readonly clear: ReactNode;
}

/** The filters of a list: one to add, a range of days, and the chosen ones. */
export function FilterBar<Name extends string>(props: FilterBarProps<Name>) {
  const { labels, search, timesOf, change, suggestions, clear } = props;
  const names = Object.keys(labels) as (Name | Times)[];
  const chosen = names.filter((name) => search[name] !== undefined);
  return (
    <section className="filters" aria-label="Filters">
      <AddFilter
        labels={labels}
        suggestions={suggestions}
        add={(name, value) => change({ [name]: value } as typeof search)}
      />
      <div className="segments" role="group" aria-label={timesOf}>
        {rangesOf(new Date()).map(({ name, from, to }) => (
          <button
            key={name}
            type="button"
            aria-pressed={search.from === from && search.to === to}
            onClick={() => change({ from, to } as typeof search)}
          >
            {name}
          </button>
        ))}
      </div>
      {chosen.length > 0 && (
        <ul className="chips" aria-label="Chosen filters">
          {chosen.map((name) => (
            <li key={name} className="chip">
              <span className="quiet">{labels[name]}</span>{" "}
              {name === "from" || name === "to" ? (
                <Time at={search[name] ?? ""} isShort />
              ) : (
                <Foreign text={search[name] ?? ""} isCode />
              )}
              <button
                type="button"
                aria-label={`Remove ${labels[name]}`}
                onClick={() => change({ [name]: undefined } as typeof search)}
              >
                ×
              </button>
            </li>
          ))}
          <li>{clear}</li>
        </ul>
      )}
    </section>
  );
}

interface AddFilterProps {
  readonly labels: Readonly<Record<string, string>>;
  readonly suggestions: Suggestions | undefined;
  readonly add: (name: string, value: string) => void;
}

function AddFilter({ labels, suggestions, add }: AddFilterProps) {
  const names = Object.keys(labels).filter((name) => name !== "from" && name !== "to");
  const [name, setName] = useState(names[0] ?? "");
  const submit = (submitted: FormEvent<HTMLFormElement>): void => {
    submitted.preventDefault();
    const field = submitted.currentTarget.elements.namedItem("value") as HTMLInputElement;
    if (field.value.trim() !== "") add(name, field.value.trim());
    field.value = "";
  };
  return (
    <form className="add-filter" onSubmit={submit}>
      <select className="input" aria-label="Filter by" value={name} onChange={({ target }) => setName(target.value)}>
        {names.map((one) => (
          <option key={one} value={one}>
            {labels[one]}
          </option>
        ))}
      </select>
      <input
        name="value"
        className="input"
        aria-label="Value"
        maxLength={256}
        autoComplete="off"
        spellCheck={false}
        {...(name === suggestions?.of && { list: "suggestions", placeholder: suggestions.placeholder })}
      />
      {suggestions && (
        <datalist id="suggestions">
          {[...suggestions.values].map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </datalist>
      )}
      <button type="submit" className="button">
        Filter
      </button>
    </form>
  );
}
