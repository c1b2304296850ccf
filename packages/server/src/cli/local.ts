/**
 * The rule that a command of a user who is signed in to an admin API never works on the stores of this host by mistake,
 * and the line that says which installation a command verifies or destroys.
 */
import { Option } from "commander";
import { describeConfig } from "../base/config/config.ts";
import { settingOf } from "../base/config/settings.ts";
import type { Call } from "./call.ts";
import { escapeControls } from "../base/messages/escape-controls.ts";
import { type Context, loadConfig } from "./context.ts";
import { findLogin } from "./login.ts";

export interface LocalOptions {
  readonly local?: boolean;
}

export const localOption = (): Option =>
  new Option("--local", "on the stores of this host, although DRS_ADMIN_URL or drs login names a server");

export const localContext = (context: Context, { local = false }: LocalOptions): Context =>
  local ? { ...context, isLocal: true } : context;

/** Prints which installation the command works on. */
export async function showInstallation(context: Context, call: Call): Promise<{ readonly installation: string }> {
  const { installation } = await call("readSession", {});
  context.stderr.write(installationLine(context, installation));
  return { installation };
}

export async function showLocalInstallation(context: Context): Promise<void> {
  const [{ withConnection }, { readInstallationId }] = await Promise.all([
    import("./connection.ts"),
    import("../lifecycle/recovery/installation.ts"),
  ]);
  await withConnection(context, "read", async ({ pool }) => {
    context.stderr.write(installationLine(context, await readInstallationId(pool)));
  });
}

export const installationLine = (context: Context, installation: string): string =>
  `${escapeControls(`Installation ${installation}, ${placeOf(context)}.`)}\n`;

/** The place of the installation that commands work on: a server, or a database, its password masked. */
export function placeOf(context: Context): string {
  const login = findLogin(context);
  if (login) return `the server at ${login.url}`;
  const config = loadConfig(context);
  if (config.embedded) return `the embedded database in ${config.database.directory}`;
  const { variable } = settingOf("database.url");
  const url = describeConfig(config, context.environment).find(({ name }) => name === variable);
  return `the database ${url?.text}`;
}
