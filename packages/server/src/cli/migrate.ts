import { Command, Option } from "commander";
import { inspectSchema, migrateSchema } from "../runtime/connect.ts";
import { openInstallation } from "../runtime/open-installation.ts";
import { hasSecrets } from "../lifecycle/recovery/installation.ts";
import { isUpToDate, type LoginRole, namesOf, migrationScriptOf } from "../store/postgres/migrate.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { openConnection, withCloseStack } from "./connection.ts";
import { type Context, loadConfig, print, printJson } from "./context.ts";
import { installationLine } from "./local.ts";
import { example } from "./options.ts";

interface MigrateOptions {
  readonly check?: boolean;
  readonly sql?: boolean;
  readonly json?: boolean;
  readonly ingestLogin?: string;
  readonly adminLogin?: string;
}

export function migrateCommand(context: Context): Command {
  return new Command("migrate")
    .option("--check", "change nothing; end with exit code 4 if something is missing")
    .addOption(new Option("--sql", "change nothing; print the SQL that would run").conflicts(["check", "json"]))
    .option("--ingest-login <name>", "grant this login what ingestion alone needs")
    .option("--admin-login <name>", "grant this login what the admin API alone needs")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      example("drs migrate", "drs migrate --check", "drs migrate --sql > schema.sql", "drs migrate --ingest-login app"),
    )
    .action((options: MigrateOptions) => {
      const { check, sql, json = false } = options;
      if (sql) return printScript(context, options);
      return check ? checkSchema(context, json) : migrateDatabase(context, json, options);
    });
}

/** The logins that the options name, each with the role that the migration grants to it. */
function loginsOf({ ingestLogin, adminLogin }: MigrateOptions): readonly LoginRole[] {
  return [
    ...(ingestLogin === undefined ? [] : [{ login: ingestLogin, role: "drs_ingest" } as const]),
    ...(adminLogin === undefined ? [] : [{ login: adminLogin, role: "drs_admin" } as const]),
  ];
}

async function migrateDatabase(context: Context, json: boolean, options: MigrateOptions): Promise<void> {
  const config = loadConfig(context);
  const applied = await withCloseStack(context, config, async (opened, onError) => {
    const onOpen = (installation = "without a schema"): void =>
      void context.stderr.write(installationLine({ ...context, isLocal: true }, installation));
    const names = namesOf(await migrateSchema(config, loginsOf(options), onOpen, onError, opened));
    const connection = await openConnection(context, config, "change", onError, opened);
    if (await hasSecrets(connection.pool)) return names;
    await (await openInstallation(connection)).receipts();
    return names;
  });
  if (json) return printJson(context, { applied });
  print(context, applied.length === 0 ? UP_TO_DATE : `Applied: ${applied.join(", ")}.`);
}

const UP_TO_DATE = "The schema is up to date.";

async function checkSchema(context: Context, json: boolean): Promise<void> {
  const config = loadConfig(context);
  const { pending } = await withCloseStack(context, config, (opened, onError) =>
    inspectSchema(config, onError, opened),
  );
  const missing = namesOf(pending);
  if (json) printJson(context, { missing });
  if (!isUpToDate(pending))
    throw new OperatorError("schema-outdated", `the database lacks ${missing.join(", ")}: run drs migrate`);
  if (!json) print(context, UP_TO_DATE);
}

async function printScript(context: Context, options: MigrateOptions): Promise<void> {
  const config = loadConfig(context);
  const state = await withCloseStack(context, config, (opened, onError) => inspectSchema(config, onError, opened));
  if (!isUpToDate(state.pending))
    context.stdout.write(migrationScriptOf(state.pending, [...state.logins, ...loginsOf(options)]));
}
