import { type Static, Type } from "typebox";
import type { Route } from "../route.ts";
import { account, count, nullable, object, reason, shape, shownText, uuid } from "../schemas.ts";

/** The languages of the pages and of the letter that an export has for the person. */
export const EXPORT_LANGUAGES = ["en", "de"] as const;
export type ExportLanguage = (typeof EXPORT_LANGUAGES)[number];

/** The names that a file of an export can have. */
export const EXPORT_FILE =
  "^(events/[0-9a-f-]{36}\\.json|[a-z-]+\\.ndjson|index\\.html|pages/[a-z]+-[0-9]+\\.html|letter\\.txt)$";

const file = Type.String({ pattern: EXPORT_FILE, description: "Name of the file in the folder of the export." });

const manifest = shape("AccountManifest", {
  export_id: shownText(),
  account: shownText(),
  exported_at: shownText(),
  request_id: nullable(shownText("The request that the export answers.")),
  refused: Type.Boolean({
    description: "Whether the server rejects later events of the account, because of an erasure.",
  }),
  letter_gaps: count("Parts of letter.txt in [brackets], which a person completes before the letter is sent."),
  files: Type.Array(
    shape("AccountFile", { name: shownText(), rows: count(), bytes: count(), sha256: shownText("In hexadecimal.") }),
  ),
});
export type AccountExport = Static<typeof manifest>;

/** A part of a file of an export (text or exact bytes), or, at the end, the manifest. */
const exportPart = Type.Union([
  shape("AccountText", { file, text: shownText("Lines of JSON, a page in HTML, or the letter.") }),
  shape("AccountBytes", { file, base64: shownText("The exact bytes of an event.") }),
  shape("AccountEnd", { manifest }),
]);
export type ExportPart = Static<typeof exportPart>;

export const ACCOUNT_ROUTES = {
  exportAccount: {
    method: "POST",
    path: "/accounts/export",
    tag: "Accounts",
    summary: "Everything that is stored about an account, exact bytes included",
    description:
      "For an open request of the account, which `request_id` names. Each line appends to a file of the export, or is a " +
      "whole page for the person. The last line is the manifest: without it, the export is incomplete. The audit entry is " +
      "durable before the first line.",
    permission: "accounts.export",
    operation: "account.export",
    breakGlass: true,
    recentSignIn: true,
    access: "audited-read",
    appliedBy: "worker",
    body: object({
      account,
      reason,
      language: Type.Optional(
        Type.Enum([...EXPORT_LANGUAGES], {
          description: "The language of the pages and of the letter for the person.",
          default: "en",
        }),
      ),
      request_id: Type.Optional(uuid("The open request; only a command on the database itself needs none.")),
    }),
    answer: { lines: exportPart },
    problems: ["not-found", "state-conflict"],
  },
} as const satisfies Readonly<Record<string, Route>>;
