import type { Answer } from "@device-risk-signals/admin-api";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../app/api.ts";
import { apiPath } from "../app/base.ts";
import { Failure } from "../ui/failure.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { download } from "./proof-button.tsx";
import { VerificationResult } from "./verification-result.tsx";

type Verification = Answer<"readVerification">;

const POLL_EVERY_MS = 1_000;
/** A worker begins within seconds, unless it verifies for another caller. */
const BEGINS_WITHIN_MS = 60_000;

/** Whether the log is complete, in words; an auditor verifies it here, and takes what others verify with. */
export function LogState({ id }: { readonly id: string | undefined }) {
  const navigate = useNavigate({ from: "/audit" });
  const [error, setError] = useState<unknown>();
  const [isAsking, setAsking] = useState(false);
  const {
    data,
    error: lost,
    refetch,
  } = useQuery<Verification | null>({
    queryKey: ["readVerification", id],
    queryFn: () =>
      id === undefined
        ? call("readLastVerification", {}).then(({ last }) => last)
        : call("readVerification", { verification_id: id }),
    refetchInterval: ({ state: { data: read, error: failed } }) =>
      read === null || read?.state === "ended" || failed ? false : POLL_EVERY_MS,
  });
  const verify = async (): Promise<void> => {
    setAsking(true);
    setError(undefined);
    try {
      const { verification_id } = await call("startVerification", {});
      await navigate({ search: (before) => ({ ...before, verification: verification_id }), replace: true });
    } catch (thrown) {
      setError(thrown);
    }
    setAsking(false);
  };
  const isRunning = !lost && data !== null && data?.state !== "ended";
  return (
    <section className="log-state" aria-labelledby="log-state">
      <header className="section-head">
        <h2 id="log-state">Is the log complete?</h2>
      </header>
      {data === null && (
        <p>
          Nobody has verified the log yet; a worker does so once a day. Verifying reads every entry and checks that none
          was changed, removed, inserted or reordered. It then compares the log with what is kept outside of the
          database, where nobody who can write to the database can change it.
        </p>
      )}
      {error !== undefined && <Failure error={error} what="The verification was not started" />}
      {lost && <Failure error={lost} what="The verification can't be read" again={() => void refetch()} />}
      {isRunning && <Running verification={data} />}
      {data?.result && <VerificationResult verification={data} result={data.result} />}
      <div className="log-actions">
        <button
          type="button"
          className={data?.result && id !== undefined ? "button" : "button primary"}
          disabled={isAsking || (isRunning && id !== undefined)}
          onClick={() => void verify()}
        >
          Verify the log now
        </button>
        <Downloads />
      </div>
    </section>
  );
}

function Running({ verification }: { readonly verification: Verification | undefined }) {
  if (!verification) return <Skeleton lines={2} />;
  const { state, read, requested_at } = verification;
  const isLate = state === "waiting" && Date.now() - Date.parse(requested_at) > BEGINS_WITHIN_MS;
  return (
    <div role="status">
      <progress aria-label="Verification" />
      <p className="numbers">
        {state === "waiting"
          ? "A worker starts within seconds."
          : `${read.toLocaleString("en")} items of the log were read so far.`}
        {isLate && " No worker took it for a minute: ask an operator whether one runs."}
      </p>
      <p className="quiet small">The address has this verification: you can leave, and come back.</p>
    </div>
  );
}

/** What an auditor keeps, and verifies elsewhere. */
function Downloads() {
  const [error, setError] = useState<unknown>();
  const save = async (read: () => Promise<readonly [text: string, name: string]>): Promise<void> => {
    setError(undefined);
    try {
      download(...(await read()));
    } catch (thrown) {
      setError(thrown);
    }
  };
  const day = new Date().toISOString().slice(0, 10);
  return (
    <>
      <a
        className="button"
        href={apiPath("/audit/export")}
        download={`audit-${day}.ndjson`}
        title="All entries, one line each, for drs audit verify or any other verifier"
      >
        Download the log
      </a>
      <button
        type="button"
        className="button"
        title="A signed statement of what the log has now. Keep it elsewhere: it shows later that nothing of it was removed."
        onClick={() =>
          void save(async () => [(await call("signCheckpoint", {})).checkpoint, `audit-${day}.checkpoint`])
        }
      >
        Download a checkpoint
      </button>
      <button
        type="button"
        className="button"
        title="The public key, with which proofs, checkpoints and the downloaded log are verified"
        onClick={() => void save(async () => [`${(await call("readAuditKey", {})).key}\n`, "audit-key.txt"])}
      >
        Download the key
      </button>
      {error !== undefined && <Failure error={error} what="The download failed" />}
    </>
  );
}
