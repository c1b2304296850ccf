import type { Answer } from "@device-risk-signals/admin-api";
import { Command } from "commander";
import { plural } from "../base/messages/plural.ts";
import { breakGlassOption, type BreakGlassOptions, requireBreakGlass } from "./break-glass.ts";
import { call, withCalls } from "./call.ts";
import { placeOf, showInstallation } from "./local.ts";
import { confirm } from "./confirm.ts";
import { type Context, print, printJson } from "./context.ts";
import { example } from "./options.ts";
import { routeCommand, routeList } from "./route-command.ts";

interface ChangeOptions extends BreakGlassOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function keyCommand(context: Context): Command {
  const command = new Command("key").addHelpText("after", example("drs key list"));

  command.addCommand(
    routeList(context, {
      name: "list",
      route: "listKeys",
      rows: "versions",
      help: "List the versions, and how many secrets each wraps.",
      empty: "No keys.",
      examples: ["drs key list --json"],
    }),
  );

  command
    .command("rotate")
    .description("Wrap every secret under a new version; events are not touched. Safe to interrupt and repeat.")
    .option("--dry-run", "print how many secrets would be wrapped again, and change nothing")
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs key rotate"))
    .action((options: ChangeOptions) => rotate(context, options));

  command
    .command("destroy")
    .description("Destroy a version that wraps no secret; backups made under it can't be opened.")
    .argument("<version>", "as `list` shows it")
    .option("--dry-run", "only check that it wraps no secret, and destroy nothing")
    .option("--yes", "do not ask")
    .addOption(breakGlassOption())
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs key destroy 1f0e3dad99908345"))
    .action((version: string, options: ChangeOptions) => destroy(context, version, options));

  command.addCommand(
    routeCommand(context, {
      name: "accept-loss",
      route: "acceptKeyLoss",
      help: "Accept that secrets which the key store lacks are permanently lost; events are stored again.",
      options: { reason: "why they can't be restored", dry_run: "print what is lost, and change nothing" },
      examples: ['drs key accept-loss --reason "failover, no copy has them" --yes'],
      readsInDryRun: true,
      confirm: lossSentence,
      lines: (accepted, { dry_run }) =>
        dry_run
          ? `${lossSentence(accepted)} Nothing was changed.`
          : `The loss is accepted. ${lossSentence(accepted)} Servers store events again within seconds.`,
    }),
  );
  return command;
}

const lossSentence = ({ events, accounts, partitions, copies }: Answer<"acceptKeyLoss">): string =>
  `${events} events of ${accounts} accounts, among them all of ${partitions} partitions, and ${copies} copies that holds keep ` +
  "can't be opened any more.";

async function rotate(context: Context, { dryRun = false, json }: ChangeOptions): Promise<void> {
  if (dryRun) {
    const { secrets } = await call(context, "rotateKeys", { dry_run: true });
    if (json) return printJson(context, { secrets, dry_run: true });
    return print(context, `To wrap again: ${plural(secrets, "secret")}. Nothing was changed.`);
  }
  const report = json ? () => {} : undefined;
  const { version, secrets } = await withCalls(context, "change", (invoke) => invoke("rotateKeys", {}), report);
  if (json) return printJson(context, { version, secrets, dry_run: false });
  print(context, `Wrapped under version ${version}: ${plural(secrets, "secret")}.`);
}

async function destroy(context: Context, version: string, options: ChangeOptions): Promise<void> {
  const { dryRun = false, yes, json } = options;
  if (dryRun) await call(context, "destroyKey", { version, dry_run: true });
  else {
    const destroying = requireBreakGlass(context, options);
    await withCalls(destroying, "change", async (invoke) => {
      await showInstallation(destroying, invoke);
      await invoke("destroyKey", { version, dry_run: true });
      const what = `Afterwards, backups of the key store that were made under version ${version} can't be opened.`;
      await confirm(context, { what, yes, where: placeOf(context) });
      await invoke("destroyKey", { version });
    });
  }
  if (json) return printJson(context, { version, dry_run: dryRun });
  print(
    context,
    dryRun ? `Version ${version} wraps no secret. Nothing was changed.` : `Version ${version} is destroyed.`,
  );
}
