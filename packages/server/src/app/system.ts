/** The system that a server and every embedding host open: an installation that is up to date and may serve. */
import { type Warning, warningsOf } from "../config/warnings.ts";
import type { Config, Environment } from "../config/config.ts";
import { type Replayed, replayJournal } from "../lifecycle/recovery/replay-journal.ts";
import type { RetentionOptions } from "../lifecycle/retention-worker.ts";
import type { Clock, OnError } from "../ports.ts";
import { type DatabaseIdentity, identifyDatabase } from "../postgres/database-identity.ts";
import { CloseStack } from "./close-stack.ts";
import { connect } from "./connect.ts";
import { type Installation, openInstallation } from "./open-installation.ts";
import { describeReplayed, recover, replayPorts } from "./recover.ts";

export interface System extends Installation {
  /** The database that this start has compared with the erasure journal. */
  readonly identity: DatabaseIdentity;
  /** Applies what the erasure journal has and this database or key store lacks. @throws an error with a journal-… code, Unavailable */
  replay(): Promise<Replayed>;
  /** Descriptions of the journal entries that this start applied because a backup had been restored. */
  readonly replayed: readonly string[];
  /** Warnings about the configuration. */
  readonly warnings: readonly Warning[];
  /** Names of what is being closed, for messages. */
  readonly closing: Set<string>;
  /** Closes everything. Never rejects. */
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly clock: Clock;
  readonly asServer: boolean;
  /** Whether an outdated schema is migrated. By default it is. */
  readonly migrates?: boolean;
  /** The variables of this process: the command that prints keys gets them. */
  readonly environment: Environment;
  readonly onError: OnError;
}

export async function openSystem(config: Config, options: OpenOptions): Promise<System> {
  const { clock, asServer, migrates = true, environment, onError } = options;
  const closing = new Set<string>();
  await using opened = new CloseStack(onError, closing);
  const connecting = { access: "change", clock, asServer, migrates, environment, onError } as const;
  const connection = await connect(config, connecting, opened);
  const identity = await identifyDatabase(connection.pool);
  const installation = await openInstallation(connection);
  // A server that is the first of its installation leaves nothing to be made by a command that reads.
  await installation.receipts();
  const ports = replayPorts(installation);
  const replayed = await recover(installation, ports);
  return {
    ...installation,
    identity,
    replay: () => replayJournal(ports, "head"),
    replayed: describeReplayed(replayed),
    warnings: warningsOf(config),
    closing,
    close: opened.release(),
  };
}

/** The parts that a worker or a command needs to delete events. */
export function erasurePorts(installation: Installation): Omit<RetentionOptions, "database" | "actor" | "signal"> {
  const { pool, clock, audit, config, secrets, sealer, keyStore, pseudonymizer, journal, codec, receipts } =
    installation;
  const signer = { sign: async (receipt: object): Promise<string> => (await receipts()).sign(receipt) };
  const attest = { executor: pool, signer, clock, backups: config.retention };
  return {
    clock,
    audit,
    secrets,
    sealer,
    keyStore,
    pseudonymizer,
    journal,
    codec,
    attest,
    replayWindow: config.retention.replayWindowMs,
    countRetention: config.retention.countsMs,
    auditReasonRetention: config.audit.reasonRetentionMs,
  };
}
