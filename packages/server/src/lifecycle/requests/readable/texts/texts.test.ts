import { EXPORT_LANGUAGES, type ExportLanguage } from "@device-risk-signals/admin-api";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import { expect, it } from "vitest";
import type { StoredPart } from "../../account-export.ts";
import { escapeHtml } from "../../../../base/messages/html.ts";
import {
  eventOf,
  eventParts,
  idOf,
  type Line,
  lines,
  MANIFEST,
  PURPOSE,
  success,
  write,
} from "../readable-export.fixture.ts";
import type { Texts } from "./en.ts";
import { TEXTS } from "./texts.ts";

const at = MANIFEST.exported_at;

const members = (count: number, of: unknown): object =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, of]));

/** Events with each state, unit and kind of value, and with more than a page shows. */
function events({ states }: Texts): readonly StoredPart[] {
  const skipped = [...Object.keys(states.reasons), "other"].map((reason) => ({ status: "skipped", reason }));
  const failed = Object.keys(states.errors).map((error) => ({ status: "error", error }));
  const unobserved = [...skipped, ...failed, { status: "timeout" }];
  const { androidBuild } = CATALOG.find(({ id }) => id === "device_identity")?.fields ?? {};
  const units = CATALOG.map(({ id, fields }) => [
    id,
    success(Object.fromEntries(Object.entries(fields).map(([name, { unit }]) => [name, unit === undefined || 12]))),
  ]);
  const build = Object.fromEntries(Object.keys(androidBuild?.fields ?? {}).map((name) => [name, "b"]));
  const uptime = (uptimeMs: number) => eventOf({ hardware: success({ uptimeMs }) });
  const idle = { scanPerformed: false, defaultPortOpen: false };
  const odd = { a: null, b: [], c: "", d: "x".repeat(301), e: Array.from({ length: 41 }, () => 1), f: false };
  const all: readonly (readonly [exact: unknown, attributes?: Line])[] = [
    [eventOf(Object.fromEntries(units), { more: 1, client_id: "c" })],
    [eventOf(Object.fromEntries(unobserved.map((outcome, index) => [CATALOG[index]?.id, outcome])))],
    [eventOf({ os_integrity_frida_scan: success(idle), unknown: success(odd) }), { purpose: "other" }],
    [eventOf({ device_identity: success({ model: "m", androidBuild: build }) })],
    [eventOf({ os_integrity: success({ developerModeEnabled: true }) }), { platform: "ios" }],
    [eventOf(members(51, success({})))],
    [eventOf({ fonts: success(members(101, 1)) })],
    ...[0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(
      (latitude) => [eventOf({ geolocation: success({ latitude }) })] as const,
    ),
    [eventOf({}), { restricted: true, delete_on: null }],
    ...[9e5, 9e6, 9e6, 9e8].map((ms) => [uptime(ms)] as const),
    [[1]],
    ...Array.from({ length: 51 }, (_, index) => [eventOf({}), { action_type: `type-${index}` }] as const),
  ];
  const unreadable = eventParts(0, {}, { unreadable: true, file: undefined }).slice(1);
  return [...unreadable, ...all.flatMap(([exact, attributes], index) => eventParts(index + 1, exact, attributes))];
}

/** Lines with each word of each vocabulary. */
function tables({ accesses, recipients, requests, periods, features }: Texts): readonly StoredPart[] {
  const each = (file: string, line: Line, member: string, words: object, ...more: readonly string[]) =>
    [...Object.keys(words), ...more].map((word) => lines(file, { ...line, [member]: word }));
  const who = { via: "api", roles: [] };
  const access = { ...who, at, operation: "event.read", outcome: "done", event_id: null, occurrences: 2, reason: null };
  const recipient = {
    purpose: null,
    features: null,
    recipient: "r",
    exported_at: at,
    expires_on: "2027-01-01",
    rows: 1,
  };
  const dates = { received_at: at, due_at: at, closed_at: null };
  const request = { ...dates, request_id: "r", kind: "access", outcome: null, ground: null, identity: null };
  const restriction = { purpose: null, request_id: "r", reason: "r", placed_at: at, lifted_at: null };
  const feature = { event_id: idOf(99), received_at: at, delete_on: null, purpose: "payments", value: 1 };
  return [
    lines("purposes.ndjson", { ...PURPOSE, raw_retention: "P1Y1M1W1DT1H1M1S", derived_retention: "P2Y2M2W2DT2H2M2S" }),
    lines("purposes.ndjson", { ...PURPOSE, purpose: "other", raw_retention: null, retired_at: at }),
    ...each("accesses.ndjson", access, "operation", accesses.operations, "new"),
    ...each("accesses.ndjson", { ...access, operation: "event.create" }, "outcome", accesses.outcomes, "new"),
    ...each("accesses.ndjson", access, "via", accesses.ways, "new"),
    ...Object.keys(accesses.roles).map((role) => lines("accesses.ndjson", { ...access, roles: [role] })),
    ...Object.keys(periods.list).map((record) => lines("periods.ndjson", { record, period: "P1D" })),
    lines("periods.ndjson", { record: "backups", period: null }),
    ...each("exports.ndjson", recipient, "kind", recipients.kinds),
    ...each("requests.ndjson", request, "kind", requests.kinds),
    ...each("requests.ndjson", request, "outcome", requests.outcomes),
    ...each("restrictions.ndjson", restriction, "article", requests.articles),
    lines("restrictions.ndjson", { ...restriction, article: 18, lifted_at: at }),
    ...each("features.ndjson", feature, "state", features.states),
    lines("features.ndjson", { ...feature, extracted_at: at, unreadable: true }),
  ];
}

/** The files of an account that has everything, and of one that has nothing. */
async function filesIn(language: ExportLanguage): Promise<string> {
  const texts = TEXTS[language];
  const files = Object.keys(texts.files.list).map((name) => ({ name, rows: 1, bytes: 1, sha256: "" }));
  const manifest = { ...MANIFEST, refused: true, files };
  const limits = { length: 200_000, entries: 12 };
  const rich = await write([...tables(texts), ...events(texts)], { language, limits, manifest });
  const empty = await write([], { language });
  return [...rich.files.values(), ...empty.files.values()].join("");
}

it.each(EXPORT_LANGUAGES)(
  "each text in %s is used, and has the places for values of the English one",
  async (language) => {
    const said = await filesIn(language);
    const places = (text: string): readonly string[] => (text.match(/\{\w+\}/g) ?? []).toSorted();
    for (const [path, text, english] of textsOf(TEXTS[language], TEXTS.en)) {
      if (typeof english === "string") expect(places(text), path).toEqual(places(english));
      // The events are of one month.
      if (path.startsWith("month.")) continue;
      const parts = text.split(/\{\w+\}/).map((part) => (path.startsWith("letter.") ? part : escapeHtml(part)));
      expect(
        parts.filter((part) => !said.includes(part)),
        path,
      ).toEqual([]);
    }
  },
);

/** Path and text of each text, and the text of another tree in the same place. */
function* textsOf(
  tree: unknown,
  other: unknown,
  path: readonly string[] = [],
): Generator<readonly [path: string, text: string, other: unknown]> {
  if (typeof tree === "string") yield [path.join("."), tree, other];
  else {
    for (const [name, child] of Object.entries(tree as object)) {
      yield* textsOf(child, (other as Line | undefined)?.[name], [...path, name]);
    }
  }
}
