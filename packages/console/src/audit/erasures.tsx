import type { Answer } from "@device-risk-signals/admin-api";
import { Time } from "../ui/time.tsx";
import { download } from "./proof-button.tsx";

/** What was erased of the account that the list is about, with the signed receipts. */
export const Erasures = ({ erasures }: { readonly erasures: Answer<"listAudit">["erasures"] }) => (
  <ul className="note plain-list" aria-label="Erasures of this account">
    {erasures.map(({ erasure_id, kind, began_at, finished_at, receipt }) => (
      <li key={erasure_id}>
        Erasure of {kind === "account" ? "this account" : `its ${kind}`}, started <Time at={began_at} isShort />,{" "}
        {finished_at === null ? (
          "not finished"
        ) : (
          <>
            finished <Time at={finished_at} isShort /> UTC
          </>
        )}{" "}
        {receipt !== null && (
          <button
            type="button"
            className="button row-action"
            aria-label={`Download the receipt of erasure ${erasure_id}`}
            onClick={() => download(receipt, `erasure-${erasure_id}.receipt`)}
          >
            Receipt
          </button>
        )}
      </li>
    ))}
  </ul>
);
