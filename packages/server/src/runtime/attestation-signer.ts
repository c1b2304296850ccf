import type { System } from "./system.ts";

/** Signs attestations of features with the key of receipts. */
export const attestationSigner =
  ({ receipts, codec }: Pick<System, "receipts" | "codec">) =>
  async (statement: object): Promise<string> =>
    (await receipts()).sign({
      receipt: "attestation",
      receipt_version: 1,
      installation: codec.installation,
      ...statement,
    });
