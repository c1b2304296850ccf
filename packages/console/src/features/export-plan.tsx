import type { Answer } from "@device-risk-signals/admin-api";
import { Foreign } from "../ui/foreign.tsx";
import { classOf, meaningOf } from "./shares.tsx";

interface ExportPlanProps {
  readonly plan: Answer<"planExport">;
  readonly features: readonly string[];
}

/** `null`: one account can be more than a tenth of it. */
const numberOf = (number: number | null): string => number?.toLocaleString("en") ?? "not shown";

/** What an export would have: rows, and how often each feature has each state in them. */
export function ExportPlan({ plan, features }: ExportPlanProps) {
  const { labels, rows, empty_rows: empty, limited_labels: limited, columns } = plan;
  const states = [...new Set(columns.flatMap((column) => Object.keys(column.states)))].toSorted();
  return (
    <>
      <h2 id="plan">What the export would have</h2>
      <dl className="counts">
        <div>
          <dt>Labels</dt>
          <dd className="numbers">{labels.toLocaleString("en")}</dd>
        </div>
        <div>
          <dt>Rows</dt>
          <dd className="numbers">{numberOf(rows)}</dd>
        </div>
        <div>
          <dt>Labels without values</dt>
          <dd className="numbers">{numberOf(empty)}</dd>
        </div>
        {limited !== 0 && (
          <div>
            <dt>Labels with more than 1,000 events</dt>
            <dd className="numbers">{numberOf(limited)}; the newest of each are exported</dd>
          </div>
        )}
      </dl>
      <div className="table-scroll" tabIndex={0} role="region" aria-label="Rows by state">
        <table className="table group-table">
          <thead>
            <tr>
              <th scope="col">Rows by state</th>
              {states.map((state) => (
                <th key={state} scope="col" title={meaningOf(state)}>
                  <span className={`state-key ${classOf(state)}`} aria-hidden="true" />
                  {state}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {columns.map(({ feature, meaning, states: of }) => (
              <tr key={feature}>
                <th scope="row" title={meaning}>
                  <Foreign text={feature} isCode />
                </th>
                {states.map((state) => {
                  const count = of[state];
                  return (
                    <td key={state} className="numbers">
                      {count === undefined ? "" : numberOf(count)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="quiet">
        {features.length === 1 ? "One feature" : `${features.length} features`}. Numbers are rounded down to tens, and
        not shown if one account can be more than a tenth of them. The export has what is stored when it begins; a value
        is empty in every state but observed.
      </p>
    </>
  );
}
