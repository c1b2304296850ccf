import { Command } from "commander";
import type { Answer } from "@device-risk-signals/admin-api";
import { describeConfig } from "../base/config/config.ts";
import { call } from "./call.ts";
import { type Context, loadConfig, print } from "./context.ts";
import { findLogin } from "./login.ts";
import { example } from "./options.ts";

export function configCommand(context: Context): Command {
  return new Command("config")
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs config"))
    .action(async (options: { json?: boolean }) => {
      const settings = await settingsOf(context);
      if (options.json) {
        return print(context, JSON.stringify(Object.fromEntries(settings.map(({ name, value }) => [name, value]))));
      }
      for (const { name, text } of settings) print(context, `${name}=${text}`);
    });
}

/**
 * The settings of the server behind the admin API; without an admin API, those of this process, which need no database.
 */
async function settingsOf(context: Context): Promise<Answer<"readConfiguration">["settings"]> {
  if (findLogin(context)) return (await call(context, "readConfiguration", {})).settings;
  return [...describeConfig(loadConfig(context), context.environment)];
}
