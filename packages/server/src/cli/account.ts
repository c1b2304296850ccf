import { resolve } from "node:path";
import { EXPORT_LANGUAGES, type ExportLanguage } from "@device-risk-signals/admin-api";
import { Command, Option } from "commander";
import { breakGlassOption, type BreakGlassOptions, requireBreakGlass } from "./break-glass.ts";
import { withCalls } from "./call.ts";
import { plural } from "../base/messages/plural.ts";
import { escapeInLines } from "../base/messages/escape-controls.ts";
import { type Context, print, printJson } from "./context.ts";
import { requireUnused, writeExport } from "./export-folder.ts";
import { findLogin } from "./login.ts";
import { account, example, uuid } from "./options.ts";
import { reasonReader } from "./reason.ts";

interface ExportOptions extends BreakGlassOptions {
  readonly account: string;
  readonly out: string;
  readonly reason: string;
  readonly request?: string;
  readonly language: ExportLanguage;
  readonly json?: boolean;
}

export function accountCommand(context: Context): Command {
  const command = new Command("account").addHelpText(
    "after",
    example('drs account export --account customer-1 --out export --reason "request 17"'),
  );
  command
    .command("export")
    .description("Write everything that is stored about an account into a new folder, exact bytes included. Audited.")
    .requiredOption("--account <account>", "the account to export", account)
    .requiredOption("--out <folder>", "a new or empty folder")
    .requiredOption("--reason <text>", "why", reasonReader(context))
    .option("--request <request-id>", "the account's open data request; required through the admin API", uuid)
    .addOption(
      new Option("--language <language>", "the language of the pages for the person")
        .choices(EXPORT_LANGUAGES)
        .default("en"),
    )
    .addOption(breakGlassOption())
    .option("--json", "print the manifest as one JSON object")
    .addHelpText(
      "after",
      example('drs account export --account customer-1 --out export --reason "request 17" --request 5f0c2b9e-…'),
    )
    .action((options: ExportOptions, self: Command) => {
      if (options.request === undefined && findLogin(context)) {
        self.error("error: --request is required through the admin API");
      }
      return exportInto(requireBreakGlass(context, options), options);
    });
  return command;
}

async function exportInto(context: Context, options: ExportOptions): Promise<void> {
  const { account: of, out, reason, request, language, json } = options;
  const folder = resolve(context.directory, out);
  await requireUnused(folder);
  const report = (line: string): void => void (json || context.stderr.write(`${escapeInLines(line)}\n`));
  const manifest = await withCalls(
    context,
    "audited-read",
    async (call) => {
      const asked = { account: of, reason, language, ...(request !== undefined && { request_id: request }) };
      return writeExport(folder, await call("exportAccount", asked));
    },
    report,
  );
  if (json) return printJson(context, manifest);
  const data = manifest.files.filter(({ name }) => name.endsWith(".ndjson"));
  const rows = data.map(({ name: file, rows: count }) => `${count} in ${file}`).join(", ");
  print(context, `Export ${manifest.export_id} is in ${folder}: ${rows}.`);
  print(context, "For the person: index.html, to be opened with a browser, and letter.txt.");
  const gaps = plural(manifest.letter_gaps, "part");
  print(
    context,
    `letter.txt is NOT ready to send: complete the ${gaps} in [brackets], because index.html refers to them.`,
  );
}
