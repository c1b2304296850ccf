import { useState } from "react";
import { call } from "../app/api.ts";
import { AdminRequestError } from "@device-risk-signals/admin-api/client";

/** Gives the browser a file. */
export function download(text: string, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  link.download = name;
  link.click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Downloads the proof that the log has an entry, which anybody verifies with the log's public key. */
export function ProofButton({ entryId }: { readonly entryId: string }) {
  const [problem, setProblem] = useState<string>();
  const [isReading, setReading] = useState(false);
  const read = async (): Promise<void> => {
    setReading(true);
    setProblem(undefined);
    try {
      const { proof } = await call("readProof", { entry_id: entryId });
      download(proof, `${entryId}.tlog-proof`);
    } catch (error) {
      const isNew = error instanceof AdminRequestError && error.code === "not-found";
      setProblem(isNew ? "too new: try again in ten seconds" : "could not be read: try again");
    }
    setReading(false);
  };
  return (
    <>
      <button
        type="button"
        className="button row-action"
        disabled={isReading}
        aria-label={`Download the proof of entry ${entryId}`}
        title="A proof that the log has this entry, to verify with the public key of the log and no access to the server"
        onClick={() => void read()}
      >
        Download
      </button>
      <span role="status" className="small">
        {problem}
      </span>
    </>
  );
}
