import type { KeyObject } from "node:crypto";
import { deriveKey } from "../../crypto/derive-key.ts";
import { type AuditRecord, type Surface, SURFACES } from "./record.ts";

/** The MAC key of each surface; one that is not known is absent. */
export type Surfaces = { readonly [Name in Surface]?: KeyObject };

/** @param installation the installation secret. */
export const surfaceKeys = (installation: Buffer): Required<Surfaces> =>
  Object.fromEntries(SURFACES.map((surface) => [surface, deriveKey(installation, `audit ${surface}`)])) as Required<
    Record<Surface, KeyObject>
  >;

/** What is the same in every entry of ingestion. */
export const INGESTION = { actor: "endpoint", via: "server", operation: "event.create" } as const;

/** The outcome of a commit batch. */
export const ACCEPTED = "accepted";

const API: Readonly<Record<string, Surface>> = { api: "admin", console: "admin", cli: "admin", direct: "direct" };

/** The surface of an operation that is not ingestion's, by the way on which it reached the system. */
export const surfaceOf = (via: string): Surface => API[via] ?? "worker";

/** Whether the surface that the record names may write this record, by its actor, `via` and operation. */
export function isOfSurface({ surface, actor, via, operation }: AuditRecord): boolean {
  if (surface !== "ingest") return surfaceOf(via) === surface && operation !== INGESTION.operation;
  return actor === INGESTION.actor && via === INGESTION.via && operation === INGESTION.operation;
}
