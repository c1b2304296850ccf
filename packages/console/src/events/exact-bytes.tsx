import type { Event } from "@device-risk-signals/admin-api";
import { useState } from "react";
import { call } from "../app/api.ts";
import { useScope } from "../app/session.tsx";
import { visible } from "../ui/foreign.tsx";
import { Failure } from "../ui/failure.tsx";
import { type Case, nameOf } from "./use-case.tsx";

const MAX_SHOWN = 65_536;

interface Exact {
  readonly text: string;
  readonly size: number;
  readonly sha256: string;
  readonly url: string;
}

async function read(event: Event, { case_id }: Case): Promise<Exact> {
  const bytes = await call("readExactEvent", { event_id: event.event_id, case_id });
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
  return {
    text: new TextDecoder().decode(bytes),
    size: bytes.length,
    sha256: Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join(""),
    url: URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>], { type: "application/octet-stream" })),
  };
}

/** The text as the phone sent it: nothing is parsed and printed again, so no digit is lost. */
export function ExactBytes({ event, under }: { readonly event: Event; readonly under: Case }) {
  const scope = useScope("events.exact");
  const [exact, setExact] = useState<Exact>();
  const [error, setError] = useState<unknown>();
  if (scope === undefined) return null;
  const open = (): void => void read(event, under).then(setExact, setError);
  return (
    <section className="probe" aria-labelledby="exact">
      <header>
        <h3 id="exact">Exact bytes</h3>
        {!exact && (
          <button type="button" className="button" onClick={open}>
            Read them under case {nameOf(under)}
          </button>
        )}
      </header>
      {error !== undefined && <Failure error={error} what="The exact bytes can't be read" again={open} />}
      {exact && (
        <>
          <p className="small">
            {exact.size.toLocaleString()} bytes, SHA-256 <span className="mono foreign">{exact.sha256}</span>{" "}
            <a href={exact.url} download={`${event.event_id}.json`}>
              Download
            </a>
          </p>
          <pre className="exact foreign" tabIndex={0} aria-label="Exact text">
            {visible(exact.text.slice(0, MAX_SHOWN))}
          </pre>
          {exact.text.length > MAX_SHOWN && (
            <p className="quiet">The rest is in the download: the page shows the first 64 KiB.</p>
          )}
        </>
      )}
    </section>
  );
}
