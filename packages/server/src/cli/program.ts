import { Command } from "commander";
import { accountCommand } from "./account.ts";
import { actionCommand } from "./action.ts";
import { adminTokenCommand } from "./admin-token.ts";
import { approvalCommand } from "./approval.ts";
import { auditCommand } from "./audit.ts";
import { reviewCommand } from "./review.ts";
import { benchCommand } from "./bench.ts";
import { caseCommand } from "./case.ts";
import { configCommand } from "./config.ts";
import { type Context, escapeInLines } from "./context.ts";
import { doctorCommand } from "./doctor.ts";
import { driftCommand } from "./drift.ts";
import { eraseCommand } from "./erase.ts";
import { eventCommand } from "./event.ts";
import { exportCommand } from "./export.ts";
import { featureCommand } from "./feature.ts";
import { holdCommand } from "./hold.ts";
import { keyCommand } from "./key.ts";
import { liveCommand } from "./live.ts";
import { example } from "./options.ts";
import { migrateCommand } from "./migrate.ts";
import { outcomeCommand } from "./outcome.ts";
import { purposeCommand } from "./purpose.ts";
import { receiptCommand } from "./receipt.ts";
import { rejectionCommand } from "./rejection.ts";
import { requestCommand } from "./request.ts";
import { restrictionCommand } from "./restriction.ts";
import { sessionCommand } from "./session.ts";
import { loginCommand, logoutCommand } from "./sign-in.ts";
import { retentionCommand } from "./retention.ts";
import { serveCommand } from "./serve.ts";
import { tokenCommand } from "./token.ts";

const EXIT_CODES = `
Exit codes:
  0  done
  1  failed
  2  wrong usage
  3  done in part: a hold keeps the rest, or nothing outside confirms the audit
  4  not ready: run the command that the message names (drs migrate, drs erase replay)
  5  an approval is needed: repeat the command when it is given
  6  the audit log is broken
`;

/** The command line, `drs`. */
export function createProgram(context: Context): Command {
  const program = new Command("drs")
    .description("Runs and operates the endpoint that keeps raw device-signal events.")
    .addHelpText("after", EXIT_CODES)
    .addHelpText("after", example("drs serve", "drs token issue --help"))
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => void context.stderr.write(escapeInLines(text)),
    })
    .exitOverride()
    .showHelpAfterError("(--help shows an example)");
  const commands = [
    serveCommand,
    migrateCommand,
    configCommand,
    doctorCommand,
    liveCommand,
    benchCommand,
    tokenCommand,
    loginCommand,
    logoutCommand,
    sessionCommand,
    adminTokenCommand,
    actionCommand,
    eventCommand,
    caseCommand,
    approvalCommand,
    auditCommand,
    reviewCommand,
    driftCommand,
    featureCommand,
    exportCommand,
    outcomeCommand,
    rejectionCommand,
    purposeCommand,
    retentionCommand,
    holdCommand,
    restrictionCommand,
    eraseCommand,
    receiptCommand,
    keyCommand,
    requestCommand,
    accountCommand,
  ];
  for (const make of commands) addSubcommand(program, make(context));
  return program;
}

/**
 * Adds a command with the settings of its parent. Commander itself copies settings only to commands that it creates.
 */
function addSubcommand(parent: Command, child: Command): void {
  const inherit = (command: Command): void => {
    command.copyInheritedSettings(parent);
    for (const inner of command.commands) inherit(inner);
  };
  inherit(child);
  parent.addCommand(child);
}
