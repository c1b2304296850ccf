import { Command } from "commander";
import { type Context, escapeInLines } from "./context.ts";
import { example } from "./options.ts";

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

type Load = () => Promise<(context: Context) => Command>;

/** Every command and group of commands by its heading in the help: its description, and where it is. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, readonly [description: string, load: Load]>>>> = {
  "Run a server:": {
    serve: [
      "Run the endpoint until SIGTERM or SIGINT, then drain.",
      async () => (await import("./serve.ts")).serveCommand,
    ],
    migrate: [
      "Bring the database's schema up to date; a new installation gets its secrets.",
      async () => (await import("./migrate.ts")).migrateCommand,
    ],
    config: [
      "Print the effective configuration, secrets masked.",
      async () => (await import("./config.ts")).configCommand,
    ],
    doctor: [
      "Check everything that the server needs, and what is overdue, and say what to do.",
      async () => (await import("./doctor.ts")).doctorCommand,
    ],
    live: [
      "Ask the server on this host whether it lives, as health checks do.",
      async () => (await import("./live.ts")).liveCommand,
    ],
    bench: [
      "Measure an installation. It stores the events that the command sends.",
      async () => (await import("./bench.ts")).benchCommand,
    ],
  },
  "Sign in:": {
    login: [
      "Sign in by a browser; commands then go through the admin API for 8 hours.",
      async () => (await import("./sign-in.ts")).loginCommand,
    ],
    logout: ["Sign out, and delete the stored token.", async () => (await import("./sign-in.ts")).logoutCommand],
    session: [
      "Sessions of people who signed in: in a browser, or by drs login.",
      async () => (await import("./session.ts")).sessionCommand,
    ],
    "admin-token": [
      "Tokens for the admin API; kept as hashes only. A token belongs to a person.",
      async () => (await import("./admin-token.ts")).adminTokenCommand,
    ],
  },
  "Send events:": {
    token: [
      "Session tokens that this system issues itself; kept as hashes only.",
      async () => (await import("./token.ts")).tokenCommand,
    ],
    action: ["Actions that events refer to.", async () => (await import("./action.ts")).actionCommand],
  },
  "Look at events:": {
    event: ["Stored events.", async () => (await import("./event.ts")).eventCommand],
    case: ["Cases: why a person opens events.", async () => (await import("./case.ts")).caseCommand],
    drift: [
      "Departures of stored events from the catalog, counted; no values.",
      async () => (await import("./drift.ts")).driftCommand,
    ],
    outcome: [
      "Outcomes of the probes of stored events, counted by hour; no values.",
      async () => (await import("./outcome.ts")).outcomeCommand,
    ],
    rejection: [
      "Rejected requests, counted by hour; no values.",
      async () => (await import("./rejection.ts")).rejectionCommand,
    ],
  },
  "Features:": {
    feature: [
      "Features: facts about observations, computed from events by reviewed code.",
      async () => (await import("./feature.ts")).featureCommand,
    ],
    export: [
      "Exports of features for training and of raw events, and their recalls.",
      async () => (await import("./export.ts")).exportCommand,
    ],
  },
  "Privacy:": {
    purpose: ["Why events are kept, and for how long.", async () => (await import("./purpose.ts")).purposeCommand],
    retention: [
      "Deletes what has expired. Each server also does this regularly.",
      async () => (await import("./retention.ts")).retentionCommand,
    ],
    hold: [
      "Legal holds: orders that keep events although they have expired.",
      async () => (await import("./hold.ts")).holdCommand,
    ],
    restriction: [
      "Restrictions and objections (articles 18 and 21 of the GDPR): hide events.",
      async () => (await import("./restriction.ts")).restrictionCommand,
    ],
    request: [
      "Requests by data subjects: what was asked, when it is due, and the outcome.",
      async () => (await import("./request.ts")).requestCommand,
    ],
    erase: [
      "Erasure of an account, also under one purpose, of an action's events, of an event.",
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
      "Reviews of audit entries: while one is open, its evidence remains readable.",
      async () => (await import("./review.ts")).reviewCommand,
    ],
    approval: [
      "Approvals: a second person allows an operation, once.",
      async () => (await import("./approval.ts")).approvalCommand,
    ],
  },
  "Keys and recovery:": {
    key: ["Versions of the key-encryption key, and lost secrets.", async () => (await import("./key.ts")).keyCommand],
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
    .showHelpAfterError("(--help shows an example)");
  for (const [heading, commands] of Object.entries(COMMANDS)) {
    for (const [name, [description, load]] of Object.entries(commands)) {
      const isNamed = args === undefined || args.includes(name);
      const command = isNamed ? (await load())(context) : new Command(name);
      addSubcommand(program, command.description(description).helpGroup(heading));
    }
  }
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
