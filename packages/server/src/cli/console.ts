import { type Role, ROLE_NAMES } from "@device-risk-signals/admin-api";
import { Command } from "commander";
import { issueSignInLink } from "../access/identity/sign-in-link.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { withInstallation } from "./connection.ts";
import { agentOf, type Context, loadConfig, print } from "./context.ts";
import { example, personName } from "./options.ts";
import { groupOf } from "./route-command.ts";
import { roleList } from "./role-list.ts";
import { reachOf } from "../serve/reach.ts";

interface LinkOptions {
  readonly person: string;
  readonly role?: readonly Role[];
}

export function consoleCommand(context: Context): Command {
  const link = new Command("link")
    .description("Print a link that signs one person in, once, within ten minutes; on loopback without OpenID Connect.")
    .option("--person <name>", "who signs in, as the audit log names them", personName, "development")
    .option("--role <role...>", `one or more of ${ROLE_NAMES.join(", ")} (default: all)`, roleList)
    .addHelpText("after", example("drs console link", "drs console link --person j.doe --role privacy"))
    .action((options: LinkOptions) => printLink(context, options));
  return groupOf("console", "drs console link", link);
}

async function printLink(context: Context, { person, role: roles = ROLE_NAMES }: LinkOptions): Promise<void> {
  const config = loadConfig(context);
  const { host, port } = config.service.admin;
  if (reachOf(config) !== "loopback") {
    throw new OperatorError(
      "wrong-usage",
      "A link signs people in on the embedded database, on loopback and without DRS_ADMIN_PUBLIC_URL only: open the address of the admin listener and sign in there.",
    );
  }
  if (port === 0) {
    throw new OperatorError("wrong-usage", "DRS_ADMIN_PORT=0 names no port: set it to the port of the running server.");
  }
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const link = await withInstallation(context, "change", (ports) =>
    issueSignInLink(ports, url, { person, roles }, agentOf(context)),
  );
  print(context, link.url);
  print(context, `For ${person} (${roles.join(", ")}), once, until ${link.expiresAt}.`);
}
