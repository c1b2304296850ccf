import { readFile } from "node:fs/promises";
import { hasCode, OperatorError } from "../../base/errors/operator-error.ts";
import type { KnownEntry } from "../journal/chain.ts";
import { type ReceiptSigner, verifyReceipt } from "./receipt-signer.ts";

/** The part of a receipt about the journal. */
interface AttestedJournal {
  readonly installation: string;
  readonly journal?: { readonly sequence: number; readonly digest: string };
}

/**
 * Reads from a receipt which entry of the erasure journal was the latest one when the receipt was signed.
 * @param file the file of the receipt, if there is one.
 * @param receipts opens the signer of receipts. Called only if there is a file.
 * @throws journal-receipt-unusable if the file can't be read, or if it is not a receipt of this installation that names
 * an entry.
 */
export async function attestedEntry(
  file: string | undefined,
  receipts: () => Promise<ReceiptSigner>,
  installation: string,
): Promise<KnownEntry | undefined> {
  if (file === undefined) return undefined;
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new OperatorError(
      "journal-receipt-unusable",
      `DRS_ERASURE_RECEIPT_FILE: ${file} can't be read (${cause.code})`,
      { cause },
    );
  });
  const { publicKey } = await receipts();
  const receipt = await verifyReceipt(text, publicKey).catch((cause: unknown) => {
    if (!hasCode(cause, "receipt-invalid")) throw cause;
    throw new OperatorError(
      "journal-receipt-unusable",
      `DRS_ERASURE_RECEIPT_FILE: this installation did not sign ${file}`,
      { cause },
    );
  });
  const attested = receipt as unknown as AttestedJournal;
  if (attested.installation !== installation) {
    throw new OperatorError(
      "journal-receipt-unusable",
      `DRS_ERASURE_RECEIPT_FILE: ${file} is a receipt of another installation`,
    );
  }
  const { sequence, digest } = attested.journal ?? {};
  if (typeof sequence !== "number" || typeof digest !== "string") {
    throw new OperatorError(
      "journal-receipt-unusable",
      `DRS_ERASURE_RECEIPT_FILE: ${file} does not say which entry the journal had`,
    );
  }
  return { sequence, digest, knownBy: `the receipt ${file}` };
}
