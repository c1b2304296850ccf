import { Link, useSearch } from "@tanstack/react-router";
import { type DragEvent, useState } from "react";
import { useRead } from "../app/api.ts";
import { Forbidden, useScope } from "../app/session.tsx";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Receipt } from "./receipt.tsx";

/** A receipt has a few kilobytes. */
const MAX_BYTES = 1_048_576;

/** Verifies a receipt: one of this installation by its id, or a file that was kept elsewhere. */
export function ReceiptsPage() {
  const { id } = useSearch({ from: "/shell/receipts" });
  const canRead = useScope("governance.read") !== undefined;
  return (
    <>
      <header className="page-head">
        <div>
          <p className="crumbs">
            <Link to="/erasures">Erasures</Link>
          </p>
          <h1>Receipt</h1>
        </div>
      </header>
      {!canRead && <Forbidden permission="governance.read" what="The key of receipts" />}
      {canRead && id !== undefined && <Stored id={id} />}
      {canRead && <Dropped />}
    </>
  );
}

function Stored({ id }: { readonly id: string }) {
  const { data, error, refetch } = useRead("readReceipt", { id });
  if (error) return <Failure error={error} what="The receipt can't be shown" again={() => void refetch()} />;
  return data ? <Receipt text={data.receipt} /> : <Skeleton lines={6} />;
}

function Dropped() {
  const [file, setFile] = useState<{ readonly name: string; readonly text: string }>();
  const [problem, setProblem] = useState<string>();
  const [isOver, setOver] = useState(false);
  const read = async (chosen: File | undefined): Promise<void> => {
    setFile(undefined);
    setProblem(undefined);
    if (!chosen) return;
    if (chosen.size > MAX_BYTES) return setProblem("The file is too large for a receipt.");
    setFile({ name: chosen.name, text: await chosen.text() });
  };
  const drop = (dropped: DragEvent): void => {
    dropped.preventDefault();
    setOver(false);
    void read(dropped.dataTransfer.files[0]);
  };
  return (
    <section>
      <header className="section-head">
        <h2>Verify a file</h2>
      </header>
      <label
        className={isOver ? "drop is-over" : "drop"}
        onDragOver={(over) => {
          over.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <span>Drop a receipt here (a file that ends in .jws), or choose it. The file does not leave this browser.</span>
        <input type="file" accept=".jws" onChange={(changed) => void read(changed.target.files?.[0])} />
      </label>
      {problem !== undefined && (
        <p className="failure" role="alert">
          {problem}
        </p>
      )}
      {file && (
        <>
          <p>
            The file <Foreign text={file.name} isCode />:
          </p>
          <Receipt text={file.text} />
        </>
      )}
    </section>
  );
}
