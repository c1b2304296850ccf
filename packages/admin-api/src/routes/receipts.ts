import type { Route } from "../route.ts";
import { object, shownText, uuid } from "../schemas.ts";

const TAG = "Receipts";

export const RECEIPT_ROUTES = {
  readReceiptKey: {
    method: "GET",
    path: "/receipts/key",
    tag: TAG,
    summary: "The public key that verifies this installation's receipts",
    permission: "governance.read",
    operation: "receipt.key",
    access: "read",
    answer: object({ key_id: shownText("Thumbprint (RFC 7638)."), public_key: shownText("In PEM.") }),
  },
  readReceipt: {
    method: "GET",
    path: "/receipts/{id}",
    tag: TAG,
    summary: "The signed receipt of an erasure or a retention pass",
    permission: "governance.read",
    operation: "receipt.get",
    access: "read",
    params: object({ id: uuid("`erasure_id` or `run_id`.") }),
    answer: object({ receipt: shownText("A JWS in compact form.") }),
    problems: ["not-found"],
  },
} as const satisfies Readonly<Record<string, Route>>;
