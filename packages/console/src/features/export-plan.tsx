import type { Answer } from "@device-risk-signals/admin-api";
import { Foreign } from "../ui/foreign.tsx";
import { classOf, countOf, meaningOf } from "./shares.tsx";

interface ExportPlanProps {
  readonly plan: Answer<"planExport">;
  readonly features: readonly string[];
}

/** What an export would have: rows, and for how many accounts each feature has each state. */
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
          <dd className="numbers">{rows?.toLocaleString("en") ?? "not shown"}</dd>
        </div>
        <div>
          <dt>Accounts without values</dt>
          <dd className="numbers">{countOf(empty)}</dd>
        </div>
        {limited !== null && (
          <div>
            <dt>Accounts with labels of more than 1,000 events</dt>
            <dd className="numbers">{countOf(limited)}; the newest of each are exported</dd>
          </div>
        )}
      </dl>
      <div className="table-scroll" tabIndex={0} role="region" aria-label="Accounts by state">
        <table className="table group-table">
          <thead>
            <tr>
              <th scope="col">Accounts by state</th>
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
                      {countOf(count ?? null)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="quiet">
        {features.length === 1 ? "One feature" : `${features.length} features`}. Numbers of accounts are rounded down to
        tens, and states of fewer than ten are left out. The export has what is stored when it begins; a value is empty
        in every state but observed.
      </p>
    </>
  );
}
