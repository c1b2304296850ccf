import { Command } from "commander";
import { describeConfig } from "../config/config.ts";
import { PATHS, settingOf } from "../config/settings.ts";
import { type Context, loadConfig, print } from "./context.ts";
import { example } from "./options.ts";

export function configCommand(context: Context): Command {
  return new Command("config")
    .description("Print the effective configuration, secrets masked.")
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs config"))
    .action((options: { json?: boolean }) => {
      const values = describeConfig(loadConfig(context));
      if (options.json) return print(context, JSON.stringify(values));
      for (const [name, value] of Object.entries(values)) {
        const text = typeof value === "number" ? written(context, name) : formatted(value);
        print(context, `${name}=${text}`);
      }
    });
}

/** The value as written in the environment or the default: a duration with its unit. */
const written = ({ environment }: Context, name: string): string =>
  environment[name] ?? PATHS.map(settingOf).find(({ variable }) => variable === name)?.fallback ?? "";

function formatted(value: unknown): string {
  if (value === null) return "";
  return Array.isArray(value) ? value.join(",") : typeof value === "string" ? value : JSON.stringify(value);
}
