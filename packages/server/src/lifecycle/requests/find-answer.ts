/** The erasure or the export that answered a request, if the person who closes the request names none. */
import type { AuditSigner } from "../../audit/audit-signer.ts";
import { findAccountExports } from "../../audit/search-audit.ts";
import { OperatorError } from "../../base/errors/operator-error.ts";
import { findErasures } from "../erasure/erasure-table.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import type { RequestKind, RequestRow } from "./request-table.ts";

export interface RequestAnswer {
  readonly erasureId?: string | undefined;
  readonly exportId?: string | undefined;
}

/** What a request of each kind leads to. A restriction of the request is recorded with the request itself. */
const ANSWERED_BY: Readonly<Partial<Record<RequestKind, "erasure" | "export">>> = {
  access: "export",
  portability: "export",
  erasure: "erasure",
  restriction: "erasure",
  objection: "erasure",
};

/** Whether a request of this kind is answered by an export of the account. */
export const needsExport = (kind: RequestKind): boolean => ANSWERED_BY[kind] === "export";

/**
 * Adds the only erasure or export of the account since the receipt of the request.
 * @throws wrong-usage if there are several.
 */
export async function findAnswer(
  executor: Executor,
  audit: AuditSigner,
  request: RequestRow,
  named: RequestAnswer,
): Promise<RequestAnswer> {
  const answeredBy = ANSWERED_BY[request.kind];
  const isNamed = named.erasureId !== undefined || (answeredBy === "export" && named.exportId !== undefined);
  if (answeredBy === undefined || isNamed || request.restriction_id !== null) return named;
  const mac = audit.subjectOf(request.account ?? "");
  const found = await (answeredBy === "export"
    ? exportsFor(executor, audit, mac, request)
    : erasuresFor(executor, mac, request));
  const [only, ...others] = found;
  // guard: a request is linked to what answered it, and never by chance
  if (others.length > 0) throw several(answeredBy, request, found);
  if (!only) return named;
  return { ...named, [answeredBy === "export" ? "exportId" : "erasureId"]: only.id };
}

interface Candidate {
  readonly id: string;
  readonly at: string;
}

async function erasuresFor(executor: Executor, mac: Buffer, request: RequestRow): Promise<readonly Candidate[]> {
  const erasures = await findErasures(executor, { subjectMacs: [mac] });
  return erasures
    .filter(({ began_at, finished_at }) => began_at >= request.received_at && finished_at !== null)
    .map(({ erasure_id, began_at }) => ({ id: erasure_id, at: began_at }));
}

/** Exports that were made for the request, or, if there are none, all exports. */
async function exportsFor(
  executor: Executor,
  audit: AuditSigner,
  mac: Buffer,
  request: RequestRow,
): Promise<readonly Candidate[]> {
  const exports = await findAccountExports(executor, audit, mac, { since: request.received_at });
  const own = exports.filter(({ request_id }) => request_id === request.request_id);
  return (own.length > 0 ? own : exports).map(({ export_id, at }) => ({ id: export_id, at }));
}

function several(what: "erasure" | "export", { received_at }: RequestRow, found: readonly Candidate[]): OperatorError {
  const lines = found.map(({ id, at }) => `${id} of ${at}`);
  const message = `Since ${received_at} the account has several ${what}s: name one with --${what}.`;
  return new OperatorError("wrong-usage", [message, ...lines].join("\n  "));
}
