import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { call } from "../app/api.ts";
import { Failure } from "../ui/failure.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { Download } from "./download.tsx";
import { type Receipt as Content, type Verification, verifyReceipt } from "./verify-receipt.ts";
import { countOf } from "./words.ts";

interface Verified {
  readonly found: Verification;
  readonly keyId: string;
}

const verify = async (text: string): Promise<Verified> => {
  const { public_key, key_id } = await call("readReceiptKey", {});
  return { found: await verifyReceipt(text, public_key), keyId: key_id };
};

/** A signed receipt: verified in this browser, in words, and to download. */
export function Receipt({ text }: { readonly text: string }) {
  const { data, error, refetch } = useQuery({ queryKey: ["receipt", text], queryFn: () => verify(text) });
  if (error) return <Failure error={error} what="The receipt could not be verified" again={() => void refetch()} />;
  if (!data) return <Skeleton lines={4} />;
  const { found, keyId } = data;
  if (!found.isValid) {
    return (
      <div className="failure" role="alert">
        <p>
          <strong>Not valid.</strong> {found.why}
        </p>
      </div>
    );
  }
  return (
    <div className="receipt">
      <p role="status">
        <strong className="valid">✓ Valid.</strong> This browser has verified the signature by the key{" "}
        <span className="mono foreign">{keyId}</span>. Compare the key with the one that you keep in another place.
      </p>
      <Facts content={found.receipt} />
      <Download content={text} name={`receipt-${idOf(found.receipt)}.jws`} label="Download the receipt" />
    </div>
  );
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0);

const idOf = (content: Content): string => {
  const id = textOf(content["erasure_id"]) ?? textOf(content["run_id"]) ?? "";
  return /^[0-9a-f-]{36}$/.test(id) ? id : "unknown";
};

const COUNTS: readonly (readonly [string, string, string?])[] = [
  ["events", "event"],
  ["rows", "event"],
  ["features", "row of feature values", "rows of feature values"],
  ["tokens", "session token"],
  ["actions", "registered action"],
  ["idempotency_keys", "key of a retry", "keys of retries"],
  ["copies", "held copy", "held copies"],
];

/** What was deleted, such as "3 events, 1 session token"; "nothing" if all counts are 0. */
export const deletedWords = (content: Content): string =>
  COUNTS.filter(([name]) => numberOf(content[name]) > 0)
    .map(([name, ...words]) => countOf(numberOf(content[name]), ...words))
    .join(", ") || "nothing";

function Facts({ content }: { readonly content: Content }) {
  const backups = (content["backups"] ?? {}) as Content;
  const stillHeld = numberOf(content["still_held"]);
  const isErasure = content["receipt"] === "erasure";
  const noDate = `no date: ${stillHeld > 0 ? "a hold keeps a part" : "the operator has declared no period of backups"}`;
  return (
    <dl className="counts">
      <Fact name="What">
        {isErasure ? "Erasure" : "Deletion of expired events"} <Foreign text={idOf(content)} isCode />
      </Fact>
      <Fact name="Finished">
        <At time={textOf(content["finished_at"])} otherwise="not finished" />
      </Fact>
      <Fact name="Deleted">{deletedWords(content)}</Fact>
      {isErasure && (
        <Fact name="Kept by a hold">
          {stillHeld > 0 ? `${countOf(stillHeld, "event")}, until the hold ends` : "nothing"}
        </Fact>
      )}
      <Fact name="By">
        <Foreign text={textOf(content["actor"]) ?? "unknown"} />
      </Fact>
      <Fact name="Reason">
        <Foreign text={textOf(content["reason"]) ?? "none"} />
      </Fact>
      <Fact name="Backups can show nothing of it after">
        <At time={textOf(backups["payloads_unreadable_after"])} otherwise={noDate} />
      </Fact>
      <Fact name="Backups have no attribute of it after">
        <At time={textOf(backups["attributes_gone_after"])} otherwise={noDate} />
      </Fact>
      <Fact name="What it does not prove">
        <Foreign text={textOf(content["statement"]) ?? "nothing"} />
      </Fact>
    </dl>
  );
}

const At = ({ time, otherwise }: { readonly time: string | undefined; readonly otherwise: string }) =>
  time === undefined || Number.isNaN(Date.parse(time)) ? <>{otherwise}</> : <Time at={time} />;

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
