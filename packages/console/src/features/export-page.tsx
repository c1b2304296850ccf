import type { Answer, Input } from "@device-risk-signals/admin-api";
import { Link, useSearch } from "@tanstack/react-router";
import { type FormEvent, useRef, useState } from "react";
import { call, queryClient, useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Download } from "../privacy/download.tsx";
import { formText } from "../privacy/form-text.ts";
import { isUnderWay } from "../privacy/next-step.ts";
import { Progress } from "../privacy/progress.tsx";
import { useChange } from "../privacy/use-change.ts";
import { tomorrow } from "../privacy/words.ts";
import { bytes } from "../ui/bytes.ts";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { PageHead } from "../ui/page-head.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { type CollectedFile, collectFile } from "./collect-file.ts";
import { ExportPlan } from "./export-plan.tsx";

type Order = Input<"exportFeatures">;

/** Values of features for training: first what the export would have, then the approval, then the file. */
export function ExportPage() {
  const canExport = useScope("exports.features") !== undefined;
  const { data, error, refetch } = useRead("readLayers", {}, canExport);
  return (
    <>
      <p className="crumbs">
        <Link to="/features">Features</Link>
      </p>
      <PageHead
        title="Export values of features"
        what="One row for each label, with the values of the time of the label. Another person approves it."
      />
      {!canExport && <Forbidden permission="exports.features" what="An export of features" />}
      {error && <Failure error={error} what="The features could not be listed" again={() => void refetch()} />}
      {canExport && !error && !data && <Skeleton lines={8} />}
      {data?.layers.length === 0 && (
        <div className="empty">
          <h2>No feature was adopted</h2>
          <p className="quiet">An export has values of features that are, or were, computed for its purpose.</p>
        </div>
      )}
      {data && data.layers.length > 0 && <ExportForm layers={data.layers} />}
    </>
  );
}

type Layers = Answer<"readLayers">["layers"];

const CLOCKS = {
  known: "Only values that were computed by the time of the label: what a decision at that time could use",
  received: "Also values that were computed later, of events that were received by then",
} as const;

const HISTORIES = [
  ["", "The newest event"],
  ["7", "Each event of 7 days"],
  ["30", "Each event of 30 days"],
] as const;
const FORMATS = { parquet: "Parquet", csv: "CSV", jsonl: "JSON lines" } as const;
const ATTRIBUTES = {
  platform: "Platform",
  sdk_version: "SDK version",
  app_version: "App version",
  action_type: "Action type",
} as const;
const DAY_MS = 86_400_000;
const TIMEOUT_MS = 1_800_000;

async function labelsOf(form: FormData): Promise<Order["labels"]> {
  const file = form.get("labels");
  if (!(file instanceof File)) throw new TypeError("the form has a file");
  const format = /\.(?:jsonl|ndjson)$/i.test(file.name) ? "jsonl" : "csv";
  return { format, text: await file.text() };
}

async function orderOf(form: FormData): Promise<Order> {
  const days = Number(formText(form, "history") ?? 0);
  return {
    labels: await labelsOf(form),
    purpose: formText(form, "purpose") ?? "",
    features: form.getAll("features").map(String),
    clock: formText(form, "clock") as Order["clock"],
    attributes: form.getAll("attributes") as NonNullable<Order["attributes"]>,
    ...(days > 0 && { history_ms: days * DAY_MS }),
    input_states: form.has("states"),
    format: formText(form, "format") as Order["format"],
    recipient: formText(form, "recipient") ?? "",
    reason: formText(form, "reason") ?? "",
    expires_on: formText(form, "expires") ?? "",
  };
}

/** What the plan takes of an order. */
const contentOf = ({
  labels,
  features,
  purpose,
  clock,
  attributes,
  history_ms,
  expires_on,
}: Order): Input<"planExport"> => ({
  labels,
  features,
  purpose,
  clock,
  ...(attributes && { attributes }),
  ...(history_ms !== undefined && { history_ms }),
  expires_on,
});

interface Planned {
  readonly order: Order;
  readonly plan: Answer<"planExport">;
}

function ExportForm({ layers }: { readonly layers: Layers }) {
  const { purpose: given } = useSearch({ from: "/shell/features/export" });
  const purposes = [...new Set(layers.map((layer) => layer.purpose))];
  const [purpose, setPurpose] = useState(given !== undefined && purposes.includes(given) ? given : (purposes[0] ?? ""));
  const [planned, setPlanned] = useState<Planned>();
  const changes = useRef(0);
  const planning = useChange(async ({ form, of }: { readonly form: FormData; readonly of: number }, onProgress) => {
    const order = await orderOf(form);
    const plan = await call("planExport", contentOf(order), { timeoutMs: TIMEOUT_MS, onProgress });
    // guard(true): a person asks for the export that the form shows, also if it was changed meanwhile
    if (of === changes.current) setPlanned({ order, plan });
  });
  const submit = (submitted: FormEvent<HTMLFormElement>): void => {
    submitted.preventDefault();
    void planning.run({ form: new FormData(submitted.currentTarget), of: changes.current });
  };
  const change = (): void => {
    changes.current++;
    setPlanned(undefined);
  };
  return (
    <>
      <form className="form order" onSubmit={submit} onChange={change}>
        <Labels />
        <label>
          Purpose
          <select name="purpose" className="input" value={purpose} onChange={({ target }) => setPurpose(target.value)}>
            {purposes.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <Features key={purpose} layers={layers.filter((layer) => layer.purpose === purpose)} />
        <Choices />
        <HandedOut />
        {!planned && !isUnderWay(planning) && (
          <button type="submit" className="button primary">
            Count rows and states
          </button>
        )}
        <Progress change={planning} failed="The export can't be made as it is" />
      </form>
      {planned && <Ask planned={planned} />}
    </>
  );
}

const Labels = () => (
  <label>
    Labels
    <input type="file" name="labels" className="input" accept=".csv,.jsonl,.ndjson" required />
    <span className="hint">
      CSV with a header, or JSON lines: account, action_id or event_id; label_time; label. The file goes to the server
      for this export, and is not kept there.
    </span>
  </label>
);

function Features({ layers }: { readonly layers: Layers }) {
  const { features } = useSearch({ from: "/shell/features/export" });
  const given = features?.split(",");
  const names = [...new Set(layers.flatMap(({ members }) => members))].toSorted();
  return (
    <fieldset>
      <legend>Features</legend>
      {names.map((name) => (
        <label key={name} className="radio">
          <input type="checkbox" name="features" value={name} defaultChecked={given?.includes(name) ?? true} />{" "}
          <Foreign text={name} isCode />
        </label>
      ))}
    </fieldset>
  );
}

const Choices = () => (
  <>
    <fieldset>
      <legend>Which values count</legend>
      {Object.entries(CLOCKS).map(([clock, words]) => (
        <label key={clock} className="radio">
          <input type="radio" name="clock" value={clock} defaultChecked={clock === "known"} /> {words}
        </label>
      ))}
    </fieldset>
    <fieldset>
      <legend>Attributes of the events, as far as the purpose allows them</legend>
      {Object.entries(ATTRIBUTES).map(([attribute, words]) => (
        <label key={attribute} className="radio">
          <input type="checkbox" name="attributes" value={attribute} /> {words}
        </label>
      ))}
      <label className="radio">
        <input type="checkbox" name="states" /> The state of each field that a feature read
      </label>
    </fieldset>
    <div className="form-row">
      <label>
        Rows of a label
        <select name="history" className="input">
          {HISTORIES.map(([days, words]) => (
            <option key={days} value={days}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <label>
        Format
        <select name="format" className="input">
          {Object.entries(FORMATS).map(([format, words]) => (
            <option key={format} value={format}>
              {words}
            </option>
          ))}
        </select>
      </label>
    </div>
  </>
);

const HandedOut = () => (
  <>
    <div className="form-row">
      <label>
        Who gets the file
        <input name="recipient" className="input" required maxLength={256} autoComplete="off" />
      </label>
      <label>
        They delete it by
        <input name="expires" type="date" className="input" required min={tomorrow()} />
      </label>
    </div>
    <label>
      Reason
      <input name="reason" className="input" required minLength={8} maxLength={1_000} autoComplete="off" />
      <span className="hint">Such as the model that is trained. It is recorded in the audit log.</span>
    </label>
  </>
);

/** The counts, then the question to another person, then the file. */
function Ask({ planned: { order, plan } }: { readonly planned: Planned }) {
  const [done, setDone] = useState<CollectedFile>();
  const change = useChange(async (_: void, onProgress) => {
    const parts = await call("exportFeatures", order, { timeoutMs: TIMEOUT_MS });
    setDone(await collectFile(parts, (size) => onProgress(bytes(size))));
    await queryClient.invalidateQueries({ queryKey: ["listExports"] });
  });
  return (
    <section aria-labelledby="plan" className="panel export-plan">
      <ExportPlan plan={plan} features={order.features} />
      {!done && !isUnderWay(change) && (
        <button type="button" className="button primary" onClick={() => void change.run()}>
          Ask for the approval of {plan.labels.toLocaleString("en")} {plan.labels === 1 ? "label" : "labels"}
        </button>
      )}
      {!done && <Progress change={change} failed="The export was not made" />}
      {done && <Exported done={done} format={order.format} />}
    </section>
  );
}

function Exported({ done: { manifest, file }, format }: { readonly done: CollectedFile; readonly format: string }) {
  const name = `export-${manifest.export_id}.${format}`;
  return (
    <>
      <p className="result" role="status">
        <strong>Exported.</strong> {manifest.file.rows.toLocaleString("en")} rows, {bytes(manifest.file.bytes)}, checked
        by their SHA-256, for <Foreign text={manifest.recipient} /> until {manifest.expires_on}.
      </p>
      <div className="buttons">
        <Download content={file} name={name} label="Download the file" isPrimary />
        <Download
          content={`${JSON.stringify(manifest, null, 2)}\n`}
          name={`${name}.manifest.json`}
          label="Download its manifest"
        />
      </div>
      <p className="quiet">This page forgets the file when you leave it. The manifest says what each column means.</p>
    </>
  );
}
