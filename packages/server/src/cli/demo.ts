/** `drs demo`: fills an empty embedded installation with sample data. */
import { join } from "node:path";
import { Command } from "commander";
import { isLoopback } from "../base/config/rules.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { plural } from "../base/messages/plural.ts";
import { type Context, loadConfig, print, printJson } from "./context.ts";
import { findLogin } from "./login.ts";
import { example } from "./options.ts";

interface DemoOptions {
  readonly fresh?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function demoCommand(context: Context): Command {
  return new Command("demo")
    .option("--fresh", "delete the embedded database, its keys and its journal first")
    .option("--yes", "do not ask before --fresh deletes")
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs demo", "drs demo --fresh"))
    .action((options: DemoOptions) => demo(context, options));
}

/** @throws wrong-usage if the installation is external, can be reached from other hosts, or is not empty. */
async function demo(context: Context, { fresh, yes, json }: DemoOptions): Promise<void> {
  const login = findLogin(context);
  // guard(false): a demo is not filled here while commands go elsewhere
  if (login) throw refused(`works on this host, and commands go to the server at ${login.url}`);
  const config = loadConfig(context);
  const { embedded, service, database } = config;
  // guard(false): sample data is not written to a database that others may use
  if (!embedded || config.keys.databaseUrl !== undefined || config.journal.databaseUrl !== undefined) {
    throw refused("fills an embedded installation only, and a variable names a database");
  }
  // guard(false): other hosts do not reach a demo
  if (![service.host, service.admin.host].every(isLoopback)) {
    throw refused("needs DRS_HOST and DRS_ADMIN_HOST on loopback");
  }
  const { filledFolders, startOver } = await import("./start-over.ts");
  if (fresh) await startOver(context, config, yes);
  const [filled] = await filledFolders(config);
  // guard(false): sample data is not added to data of people
  if (filled !== undefined) {
    throw refused(`fills an empty installation only, and ${filled} has files: start over with drs demo --fresh`);
  }
  const { fillDemo } = await import("./demo/fill.ts");
  const counts = await fillDemo(context, join(database.directory, "demo"));
  if (json) return printJson(context, counts);
  const { accounts, events, rejected } = counts;
  const stored = `${plural(events, "event")} of ${plural(accounts, "account")} were stored`;
  print(context, `${stored}, and ${plural(rejected, "request")} rejected, over fourteen days.`);
  print(context, "The phones and the people are made up, and the clock started fourteen days ago. All else is real.");
  print(
    context,
    "See drs status, drs event list and drs doctor. npm start serves it, npm start -- --fresh deletes it.",
  );
}

const refused = (why: string): OperatorError =>
  new OperatorError("wrong-usage", `drs demo ${why}. Nothing was changed.`);
