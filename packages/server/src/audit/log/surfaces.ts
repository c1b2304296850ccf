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

const INGESTION = "event.create";
const API = new Set(["api", "console", "cli"]);

/** What each surface writes: with its key alone, no entry of another surface can be made. */
const RULES: { readonly [Name in Surface]: (record: AuditRecord) => boolean } = {
  ingest: ({ actor, via, operation }) => actor === "endpoint" && via === "server" && operation === INGESTION,
  admin: ({ via, operation }) => API.has(via) && operation !== INGESTION,
  worker: ({ via, operation }) => via === "server" && operation !== INGESTION,
  direct: ({ via, operation }) => (via === "direct" || via === "server") && operation !== INGESTION,
};

/** Whether the operation is one that the record's surface writes. */
export const isOfSurface = (record: AuditRecord): boolean => RULES[record.surface](record);
