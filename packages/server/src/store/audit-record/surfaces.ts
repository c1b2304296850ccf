import { createHash, type KeyObject } from "node:crypto";
import { deriveKey } from "../crypto/derive-key.ts";
import { type AuditRecord, type Surface, SURFACES } from "./record.ts";

/** The MAC key of each surface; absent if this process does not have the key. */
export type SurfaceKeys = { readonly [Name in Surface]?: KeyObject };

/** MAC keys of surfaces, oldest first. */
export type KeyRing = { readonly [Name in Surface]?: readonly KeyObject[] };

/** Entries name a key by its id: the first 8 bytes of a hash of it, in hexadecimal. */
export const surfaceKeyId = (key: KeyObject): string =>
  createHash("sha256").update("drs audit key id\0").update(key.export()).digest("hex").slice(0, 16);

/**
 * The keys of an installation without a key file. Each process that has the installation secret can derive all of them.
 * @param installation the installation secret.
 */
export const surfaceKeys = (installation: Buffer): Required<SurfaceKeys> =>
  Object.fromEntries(SURFACES.map((surface) => [surface, deriveKey(installation, `audit ${surface}`)])) as Required<
    Record<Surface, KeyObject>
  >;

/** The members that are the same in every entry of ingestion. */
export const INGESTION = { actor: "endpoint", via: "server", operation: "event.create" } as const;

/** The outcome of a commit batch. */
export const ACCEPTED = "accepted";

const SURFACE_OF_API: Readonly<Record<string, Surface>> = {
  api: "admin",
  console: "admin",
  cli: "admin",
  direct: "direct",
};

/** The surface of an operation other than ingestion. @param via how the operation reached the system. */
export const surfaceOf = (via: string): Surface => SURFACE_OF_API[via] ?? "worker";

/** Whether the surface that the record names may write this record, by its actor, `via` and operation. */
export function isOfSurface({ surface, actor, via, operation }: AuditRecord): boolean {
  if (surface !== "ingest") return surfaceOf(via) === surface && operation !== INGESTION.operation;
  return actor === INGESTION.actor && via === INGESTION.via && operation === INGESTION.operation;
}
