/** Exports of an account, without a database. */
import type { AccountExport, ExportLanguage } from "@device-risk-signals/admin-api";
import type { StoredPart } from "../account-export.ts";
import { withPages } from "./readable-export.ts";
import { PAGE_LIMITS, type PageLimits } from "./section.ts";

export type Line = Readonly<Record<string, unknown>>;

export const MANIFEST = {
  export_id: "export-1",
  account: "customer-1",
  exported_at: "2026-11-29T02:00:00.000Z",
  request_id: null as string | null,
  refused: false,
  files: [] as AccountExport["files"],
};
export const PURPOSE = {
  purpose: "payments",
  title: "Fraud prevention",
  legal_basis: "legitimate interest",
  owner: "fraud team",
  raw_retention: "P90D",
  derived_retention: "P1Y",
  retired_at: null,
};
export const idOf = (number: number): string => `019a0000-0000-7000-8000-${String(number).padStart(12, "0")}`;

/** The parts of an event that was received some minutes before the export. */
export function eventParts(number: number, exact: unknown, attributes: Line = {}): readonly StoredPart[] {
  const at = new Date(Date.parse(MANIFEST.exported_at) - number * 60_000).toISOString();
  const bytes = Buffer.from(typeof exact === "string" ? exact : JSON.stringify(exact));
  const [id, file] = [idOf(number), `events/${idOf(number)}.json`];
  const ids = { event_id: id, idempotency_key: `key-${number}`, action_id: "act_1", session_id: "s" };
  const versions = { sdk_version: "0.1.0", app_version: "7.1.0", platform: "android" };
  const kind = { purpose: "payments", action_type: "payment", restricted: false };
  const times = { collected_at: at, received_at: at, delete_on: "2027-02-27T02:00:00.000Z" };
  const line = { ...ids, ...versions, ...kind, ...times, file, bytes: bytes.length, ...attributes };
  return [{ file, base64: bytes.toString("base64") }, lines("events.ndjson", line)];
}

export const eventOf = (probes: object, members: object = {}) => ({
  session_id: "s",
  collected_at: "2026-11-29T02:00:00+01:00",
  probes,
  ...members,
});
export const success = (data: object) => ({ status: "success", data });
export const lines = (file: string, ...of: readonly Line[]): StoredPart => ({
  file,
  text: of.map((line) => `${JSON.stringify(line)}\n`).join(""),
});

export interface Written {
  readonly files: ReadonlyMap<string, string>;
  readonly index: string;
  readonly manifest: AccountExport;
}

/** @returns the files that are for the person. */
export async function write(
  parts: readonly StoredPart[],
  {
    language = "en",
    limits = PAGE_LIMITS,
    manifest = MANIFEST,
  }: { language?: ExportLanguage; limits?: PageLimits; manifest?: typeof MANIFEST } = {},
): Promise<Written> {
  const source = (async function* (): AsyncGenerator<StoredPart> {
    yield lines("purposes.ndjson", PURPOSE);
    yield* parts;
    yield { manifest };
  })();
  const files = new Map<string, string>();
  for await (const part of withPages(source, language, limits)) {
    if ("manifest" in part) return { files, index: files.get("index.html") ?? "", manifest: part.manifest };
    if ("text" in part && !part.file.endsWith(".ndjson")) files.set(part.file, part.text);
  }
  throw new Error("no manifest");
}

/** The text of a page as a person reads it. */
export const textOf = (page: string): string =>
  page.replaceAll(/<style>[^]*?<\/style>|<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
