import { type FormEvent, useState } from "react";
import { call } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { type CollectedExport, collectExport } from "./collect-export.ts";
import { Download } from "./download.tsx";
import { formText } from "./form-text.ts";
import { isUnderWay } from "./next-step.ts";
import { Progress } from "./progress.tsx";
import { useChange } from "./use-change.ts";
import { countOf } from "./words.ts";

interface ExportPanelProps {
  readonly account: string;
  readonly requestId: string;
  readonly exported: (exportId: string) => void;
}

const LANGUAGES = { en: "English", de: "German" } as const;
type Language = keyof typeof LANGUAGES;
/** It names colleagues who looked at events. */
const ACCESSES = "accesses.ndjson";
/** An export of 10,000 events takes some seconds; a slow line takes longer. */
const TIMEOUT_MS = 1_800_000;

interface Asked {
  readonly language: Language;
  readonly leftOut: readonly string[];
}

/** Writes everything that is stored about an account into files that this browser keeps until they are downloaded. */
export function ExportPanel({ account, requestId, exported }: ExportPanelProps) {
  const canExport = useScope("accounts.export") !== undefined;
  const [done, setDone] = useState<CollectedExport>();
  const change = useChange<Asked>(async ({ language, leftOut }, onProgress) => {
    const asked = { account, reason: `request ${requestId}`, request_id: requestId, language };
    const parts = await call("exportAccount", asked, { timeoutMs: TIMEOUT_MS });
    const collected = await collectExport(parts, leftOut, (files) => onProgress(countOf(files, "file")));
    setDone(collected);
    exported(collected.manifest.export_id);
  });
  if (!canExport) return <Forbidden permission="accounts.export" what="An export" />;
  if (done) return <Files done={done} />;
  const start = (submitted: FormEvent<HTMLFormElement>): void => {
    submitted.preventDefault();
    const form = new FormData(submitted.currentTarget);
    const language = formText(form, "language") as Language;
    void change.run({ language, leftOut: form.has("accesses") ? [] : [ACCESSES] });
  };
  return (
    <form className="form order" onSubmit={start}>
      <p>
        A package for the person: pages in words, with each event and the meaning of its fields, and the same as files
        for a machine. It goes from this browser to your disk, and nowhere else.
      </p>
      <fieldset>
        <legend>Language of the pages</legend>
        {Object.entries(LANGUAGES).map(([language, name]) => (
          <label className="radio" key={language}>
            <input type="radio" name="language" value={language} defaultChecked={language === "en"} /> {name}
          </label>
        ))}
      </fieldset>
      <label className="radio">
        <input type="checkbox" name="accesses" /> With the file that names colleagues who looked ({ACCESSES})
      </label>
      {!isUnderWay(change) && (
        <button type="submit" className="button primary">
          Export
        </button>
      )}
      <Progress change={change} failed="The export was not made" />
    </form>
  );
}

function Files({ done: { manifest, zip, files, letter } }: { readonly done: CollectedExport }) {
  return (
    <>
      <p className="result" role="status">
        <strong>Exported.</strong> {countOf(files, "file")}, {(zip.size / 1e6).toFixed(1)} MB, each checked by its
        SHA-256. Read <code>index.html</code> before you hand the package over on an authenticated channel; it shows the
        reasons of accesses. Then delete it.
      </p>
      <div className="buttons">
        <Download content={zip} name={`export-${manifest.export_id}.zip`} label="Download the package" isPrimary />
        {letter && <Download content={letter} name="letter.txt" label="Download the letter to complete" />}
      </div>
      <p className="quiet">This page forgets the files when you leave it.</p>
    </>
  );
}
