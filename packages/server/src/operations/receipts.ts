import { OperatorError } from "../base/errors/operator-error.ts";
import { findErasureReceipt } from "../lifecycle/erasure/erasure-table.ts";
import { findRunReceipt } from "../lifecycle/retention/run-table.ts";
import type { Operation } from "./operation.ts";

export const readReceiptKey: Operation<"readReceiptKey", "keys.receipts"> = async ({ ports }) => {
  const { receipts } = await ports.keys();
  const { publicKey, keyId } = await receipts();
  return { answer: { key_id: keyId, public_key: publicKey }, audit: { detail: { key_id: keyId } } };
};

export const readReceipt: Operation<"readReceipt", "pool"> = async ({ ports: { pool }, input: { id } }) => {
  const receipt = (await findErasureReceipt(pool, id)) ?? (await findRunReceipt(pool, id));
  if (receipt === undefined) {
    throw new OperatorError(
      "not-found",
      `There is no receipt of ${id}: check the id. If its erasure is not finished, drs retention run finishes it.`,
    );
  }
  return { answer: { receipt }, audit: { detail: { of: id } } };
};
