import { Command } from "commander";
import { VERSION } from "../base/version.ts";
import { escapeInLines } from "../base/messages/escape-controls.ts";
import type { Context } from "./context.ts";
import { example } from "./options.ts";

const EXIT_CODES = `
Exit codes:
  0  done
  1  failed
  2  wrong usage
  3  done in part: a hold keeps the rest, or nothing outside confirms the audit
  4  not ready: run the command that the message names (drs migrate, drs erase replay)
  5  an approval is needed: repeat the command when it is given
  6  the audit log is broken`;

type Load = () => Promise<(context: Context) => Command>;

/** Every command and group of commands by its heading in the help: its description, and where it is. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, readonly [description: string, load: Load]>>>> = {
  "Run a server:": {
    serve: [
      "Run the endpoint until SIGTERM or SIGINT, then drain.",
      async () => (await import("./serve.ts")).serveCommand,
    ],
    migrate: [
      "Update the database's schema; a new installation gets secrets.",
      async () => (await import("./migrate.ts")).migrateCommand,
    ],
    config: [
      "Print the effective configuration, secrets masked.",
      async () => (await import("./config.ts")).configCommand,
    ],
    doctor: [
      "Check what the server needs and what is overdue.",
      async () => (await import("./doctor.ts")).doctorCommand,
    ],
    work: ["Work that runs or waits.", async () => (await import("./work.ts")).workCommand],
    capacity: [
      "Compute disk, memory and cores for a number of events.",
      async () => (await import("./capacity.ts")).capacityCommand,
    ],
    live: ["Ask the server on this host whether it lives.", async () => (await import("./live.ts")).liveCommand],
    demo: [
      "Fill an empty embedded installation with sample data.",
      async () => (await import("./demo.ts")).demoCommand,
    ],
    bench: [
      "Measure an installation, which stores the events that it gets.",
      async () => (await import("./bench.ts")).benchCommand,
    ],
  },
  "Sign in:": {
    status: [
      "Show which installation answers, and what waits for you.",
      async () => (await import("./status.ts")).statusCommand,
    ],
    login: [
      "Sign in with a browser: commands use the admin API for 8 h.",
      async () => (await import("./sign-in.ts")).loginCommand,
    ],
    logout: ["Sign out, and delete the stored token.", async () => (await import("./sign-in.ts")).logoutCommand],
    console: [
      "Links that sign people in to the pages, on loopback.",
      async () => (await import("./console.ts")).consoleCommand,
    ],
    person: ["People: who signed in, with which roles.", async () => (await import("./person.ts")).personCommand],
    session: ["Sessions of people who signed in.", async () => (await import("./session.ts")).sessionCommand],
    "admin-token": [
      "Tokens of people for the admin API, kept as hashes only.",
      async () => (await import("./admin-token.ts")).adminTokenCommand,
    ],
  },
  "Send events:": {
    token: [
      "Session tokens that this system issues, kept as hashes only.",
      async () => (await import("./token.ts")).tokenCommand,
    ],
    action: ["Actions that events refer to.", async () => (await import("./action.ts")).actionCommand],
  },
  "Look at events:": {
    event: ["Stored events.", async () => (await import("./event.ts")).eventCommand],
    case: ["Cases: why a person opens events.", async () => (await import("./case.ts")).caseCommand],
    drift: [
      "Departures of stored events from the catalog, counted.",
      async () => (await import("./drift.ts")).driftCommand,
    ],
    outcome: ["Probe outcomes per hour.", async () => (await import("./outcome.ts")).outcomeCommand],
    rejection: ["Rejected requests per hour.", async () => (await import("./rejection.ts")).rejectionCommand],
  },
  "Features:": {
    feature: [
      "Features: facts about observations, by reviewed code.",
      async () => (await import("./feature.ts")).featureCommand,
    ],
    export: [
      "Exports of features and of raw events, and their recalls.",
      async () => (await import("./export.ts")).exportCommand,
    ],
  },
  "Privacy:": {
    purpose: ["Why events are kept, and for how long.", async () => (await import("./purpose.ts")).purposeCommand],
    retention: [
      "Delete what has expired, as each server does regularly.",
      async () => (await import("./retention.ts")).retentionCommand,
    ],
    hold: [
      "Legal holds, which keep events although they have expired.",
      async () => (await import("./hold.ts")).holdCommand,
    ],
    restriction: [
      "Restrictions and objections (GDPR 18 and 21): hide events.",
      async () => (await import("./restriction.ts")).restrictionCommand,
    ],
    request: [
      "Requests by data subjects: kind, due date and outcome.",
      async () => (await import("./request.ts")).requestCommand,
    ],
    erase: [
      "Erase an account, the events of an action, or one event.",
      async () => (await import("./erase.ts")).eraseCommand,
    ],
    receipt: [
      "Signed receipts of erasures and retention passes.",
      async () => (await import("./receipt.ts")).receiptCommand,
    ],
    account: ["What is stored about an account.", async () => (await import("./account.ts")).accountCommand],
  },
  "Audit and approvals:": {
    audit: [
      "The audit log: who did what, when, and with which outcome.",
      async () => (await import("./audit.ts")).auditCommand,
    ],
    review: [
      "Reviews of audit entries, whose evidence remains readable.",
      async () => (await import("./review.ts")).reviewCommand,
    ],
    approval: [
      "Approvals: a second person allows an operation, once.",
      async () => (await import("./approval.ts")).approvalCommand,
    ],
  },
  "Keys and recovery:": {
    backup: ["Backups that somebody has recorded.", async () => (await import("./backup.ts")).backupCommand],
    key: ["Versions of the key-encryption key, and lost secrets.", async () => (await import("./key.ts")).keyCommand],
  },
  "Other:": {
    completion: [
      "Print a script that completes commands in bash, zsh or fish.",
      async () => (await import("./completion.ts")).completionCommand,
    ],
  },
};

/**
 * The command line, `drs`.
 * @param args the words of the command line. Only the commands that they name are loaded; the others are listed with
 * their descriptions. Without `args`, all are loaded.
 */
export async function createProgram(context: Context, args?: readonly string[]): Promise<Command> {
  const program = new Command("drs")
    .description("Runs and operates the endpoint that keeps raw device-signal events.")
    .addHelpText("after", EXIT_CODES)
    .addHelpText("after", example("drs serve", "drs token issue --help"))
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => void context.stderr.write(escapeInLines(text)),
    })
    .exitOverride()
    .showHelpAfterError("(--help shows an example)")
    .version(VERSION, "--version", "print the version");
  for (const [heading, commands] of Object.entries(COMMANDS)) {
    for (const [name, [description, load]] of Object.entries(commands)) {
      const isNamed = args === undefined || args.includes(name);
      const command = isNamed ? (await load())(context) : new Command(name);
      addSubcommand(program, command.description(description).helpGroup(heading));
    }
  }
  return program.commandsGroup("Other:").helpCommand("help [command]", "Print the help of a command.");
}

/**
 * Adds a command with the settings of its parent. Commander itself copies settings only to commands that it creates.
 */
function addSubcommand(parent: Command, child: Command): void {
  const inherit = (command: Command): void => {
    command.copyInheritedSettings(parent);
    command.configureOutput({ outputError: (text, write) => write(withEveryMissing(command, text)) });
    for (const inner of command.commands) inherit(inner);
  };
  inherit(child);
  parent.addCommand(child);
}

/** The message of an error. Commander itself names only the first required option that is missing. */
function withEveryMissing(command: Command, message: string): string {
  if (!/^error: required option '.*' not specified$/m.test(message)) return message;
  const missing = command.options.filter(
    (option) => option.mandatory && command.getOptionValue(option.attributeName()) === undefined,
  );
  const names = missing.map(({ flags }) => `'${flags}'`).join(", ");
  return `error: required option${missing.length > 1 ? "s" : ""} ${names} not specified\n`;
}
