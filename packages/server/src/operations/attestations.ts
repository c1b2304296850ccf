import { isDeepStrictEqual } from "node:util";
import type { Answer } from "@device-risk-signals/admin-api";
import { hasCode, OperatorError } from "../base/errors/operator-error.ts";
import { statementOf } from "../features/attest.ts";
import { type AttestationRow, listAttestations as list } from "../features/attestations.ts";
import { verifyAttestation } from "../features/verify-attestation.ts";
import { isUuid } from "../base/identifiers/uuidv7.ts";
import { verifyReceipt } from "../lifecycle/receipts/receipt-signer.ts";
import { readPurposeIds } from "../purposes/policy-table.ts";
import { nextOf, pageOf } from "./list-page.ts";
import type { Operation } from "./operation.ts";
import { type Ports, type ReplayedPorts, requireReplayedJournal } from "./ports.ts";

/** The ids of a cursor: partition and layer. */
const IDS = [isUuid, (layer: string) => /^[1-9]\d{0,8}$/.test(layer)];
const positionOf = ({ lower_bound, partition_id, layer }: AttestationRow) =>
  [lower_bound, partition_id, String(layer)] as const;

export const listAttestations: Operation<"listAttestations", "pool"> = async ({ ports, input }) => {
  const page = pageOf(input, IDS);
  const rows = await list(ports.pool, {}, page);
  const purposes = await readPurposeIds(ports.pool);
  return {
    answer: {
      attestations: rows.map((row) => ({ ...row, purpose: purposes.get(row.purpose) ?? "" })),
      next: nextOf(rows, page, positionOf),
    },
    audit: { detail: { count: rows.length } },
  };
};

type SignaturePorts = `keys.${"codec" | "receipts"}`;
type VerifyPorts = "keys.featureSealer" | "report" | ReplayedPorts | SignaturePorts;

export const verifyAttestations: Operation<"verifyAttestations", VerifyPorts> = async ({ ports, input }) => {
  await requireReplayedJournal(ports);
  const { partition_id: partitionId } = input;
  const page = pageOf(input, IDS);
  const rows = await list(ports.pool, partitionId === undefined ? {} : { partitionId }, page);
  if (rows.length === 0 && !page.after)
    throw new OperatorError("not-found", "There is no attestation: see drs feature attestation list.");
  const attestations: Answer<"verifyAttestations">["attestations"] = [];
  for (const row of rows) {
    attestations.push(await verify(ports, row));
    ports.report(`${attestations.length} of ${rows.length} attestations`);
  }
  return {
    answer: { attestations, next: nextOf(rows, page, positionOf) },
    audit: { detail: { count: attestations.length } },
  };
};

/** Verifies an attestation with the values of its partition, which only the login of a worker may read. */
async function verify(
  ports: Ports<VerifyPorts>,
  row: AttestationRow,
): Promise<Answer<"verifyAttestations">["attestations"][number]> {
  const { featureSealer } = await ports.keys();
  const { isRootRight, found, included, unreadable } = await verifyAttestation(ports.pool, featureSealer, row);
  const isSigned = await isStatementOf(ports, row);
  const { partition_id, layer, rows, equal } = row;
  // Rows that differed, or that were not read, such as those of restricted events, are in no leaf.
  const hasOthers = found - included - unreadable > rows - equal;
  return {
    partition_id,
    layer,
    rows,
    equal,
    is_signed: isSigned,
    is_root_right: isRootRight,
    found,
    included,
    unreadable,
    holds: isSigned && isRootRight && unreadable === 0 && !hasOthers,
  };
}

/** Whether this installation has signed the content of the row. */
async function isStatementOf(ports: Ports<SignaturePorts>, row: AttestationRow): Promise<boolean> {
  const { receipts, codec } = await ports.keys();
  const { publicKey } = await receipts();
  try {
    const signed = await verifyReceipt(row.statement, publicKey);
    const { receipt, installation } = signed;
    const isOurs = receipt === "attestation" && installation === codec.installation;
    return isOurs && isDeepStrictEqual(statementOf(signed as never), statementOf(row));
  } catch (error) {
    if (hasCode(error, "receipt-invalid")) return false;
    throw error;
  }
}
