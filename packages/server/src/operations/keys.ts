import type { Installation } from "../runtime/open-installation.ts";
import type { Keys } from "../runtime/open-keys.ts";
import { writeAudit } from "../audit/audit.ts";
import { type KeyVersion, listKeyVersions, rewrap } from "../store/crypto/rotation.ts";
import { addWrapped, endRotations, recordRotation } from "../store/crypto/rotation-table.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { agentOf } from "../access/identity/caller.ts";
import { acceptSecretLoss, isNothing } from "../lifecycle/recovery/accept-secret-loss.ts";
import { compareWithJournal } from "../lifecycle/recovery/compare-with-journal.ts";
import { destroyedSecrets } from "../lifecycle/recovery/destroyed-secrets.ts";
import { findLoss, type LossCounts } from "../lifecycle/recovery/lost-secrets.ts";
import type { KeyEncryption } from "../store/crypto/key-encryption.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { plural } from "../base/messages/plural.ts";
import { inOwnerTransaction, inTransaction } from "../store/postgres/database.ts";
import { withMaintenanceLock } from "../store/postgres/maintenance-lock.ts";
import { type ApprovalPorts, approveByPrivacy } from "./approvals.ts";
import { auditedDryRun, reasonOf } from "./input.ts";
import { openReplayed, type RecoveredPorts } from "./journal-orders.ts";
import type { Operation } from "./operation.ts";

/** Least number of secrets between two reports of progress. */
const REPORT_EVERY = 1_000;

type KeyParts = Pick<Keys, "keyEncryption" | "keyStore">;
type KeyPorts = `keys.${keyof KeyParts}`;
type ChangePorts = "pool" | `installation.${"audit" | keyof KeyParts}` | KeyPorts | RecoveredPorts;

export const listKeys: Operation<"listKeys", KeyPorts> = async ({ ports }) => {
  const versions = await versionsOf(await ports.keys());
  return { answer: { versions: [...versions] }, audit: { detail: { count: versions.length } } };
};

export const rotateKeys: Operation<"rotateKeys", "report" | ChangePorts> = async ({ ports, caller, input }) => {
  if (input.dry_run) {
    const { before, secrets } = await rotationOf(await ports.keys());
    return { answer: { version: before, secrets }, ...auditedDryRun() };
  }
  const { pool, report } = ports;
  const installation = await openReplayed(ports.installation);
  const { keyStore, keyEncryption, audit, database } = installation;
  // The lock excludes commands that destroy secrets or make another version.
  const answer = await withMaintenanceLock(database, async () => {
    const { before, unfinished, secrets } = await rotationOf(installation);
    const agent = agentOf(caller);
    const entry = { ...agent, operation: "key.rotate" };
    await writeAudit(pool, audit, { ...entry, outcome: "begun", detail: { from: before } });
    // An interrupted rotation is finished, and no new version is made.
    const rotationId = await recordRotation(pool, { actor: agent.actor, secrets, continues: unfinished > 0 });
    // guard(false): an interrupted rotation continues under its version
    const nextVersion = unfinished > 0 ? before : await newVersion(pool, keyEncryption);
    let recorded = 0;
    const onProgress = async (wrapped: number): Promise<void> => {
      if (wrapped < recorded + REPORT_EVERY) return;
      await addWrapped(pool, rotationId, wrapped - recorded);
      recorded = wrapped;
      report(plural(wrapped, "secret"));
    };
    const done = { version: nextVersion, secrets: await rewrap(keyStore, keyEncryption, onProgress) };
    await addWrapped(pool, rotationId, done.secrets - recorded);
    await endRotations(pool);
    await writeAudit(pool, audit, { ...entry, outcome: "done", detail: done });
    return done;
  });
  return { answer };
};

/** Makes a version. If there can be none, no rotation is left to continue. */
async function newVersion(executor: Executor, keyEncryption: KeyEncryption): Promise<string> {
  return keyEncryption.rotate().catch(async (error: unknown) => {
    await endRotations(executor);
    throw error;
  });
}

interface Rotation {
  /** The version of the key-encryption key that wraps new secrets. */
  readonly before: string;
  /** Number of secrets under other versions, which an interrupted rotation has left. */
  readonly unfinished: number;
  /** Number of secrets that the rotation will wrap again. */
  readonly secrets: number;
}

/** @throws state-conflict if secrets are wrapped under a version whose key this process does not have. */
async function rotationOf(keys: KeyParts): Promise<Rotation> {
  const versions = await versionsOf(keys);
  requireKnownKeys(versions);
  const unfinished = versions.reduce((sum, { current, secrets: count }) => sum + (current ? 0 : count), 0);
  const secretCount = versions.reduce((sum, { secrets: count }) => sum + count, 0);
  const before = versions.find(({ current }) => current)?.version ?? "";
  return { before, unfinished, secrets: unfinished > 0 ? unfinished : secretCount };
}

export const destroyKey: Operation<"destroyKey", ApprovalPorts | ChangePorts> = async (call) => {
  const { ports, caller, input } = call;
  const { version, dry_run: isDryRun = false } = input;
  const answer = { version };
  if (isDryRun) {
    requireUnused(await versionsOf(await ports.keys()), version);
    return { answer, ...auditedDryRun({ detail: answer }) };
  }
  const { pool } = ports;
  const installation = await openReplayed(ports.installation);
  const { audit, database } = installation;
  requireUnused(await versionsOf(installation), version);
  const asked = { operation: "key.destroy", parameters: answer, plan: answer, events: 0 };
  const approval = await approveByPrivacy(call, asked, `key version ${version} wraps nothing`);
  const approved = approval && { approvalId: approval.id };
  const entry = { ...agentOf(caller), operation: "key.destroy", detail: answer, ...approved };
  await withMaintenanceLock(database, async () => {
    requireUnused(await versionsOf(installation), version);
    await inTransaction(pool, async (transaction) => {
      await approval?.use(transaction, 0);
      await writeAudit(transaction, audit, { ...entry, outcome: "begun" });
    });
    await installation.keyEncryption.destroy(version);
  });
  await writeAudit(pool, audit, { ...entry, outcome: "done" });
  return { answer };
};

type LossPorts = "administration" | "config" | `installation.${"audit" | keyof LossParts}`;

export const acceptKeyLoss: Operation<"acceptKeyLoss", LossPorts> = async ({ ports, caller, input }) => {
  const { administration, config } = ports;
  const reason = reasonOf(input.reason, config);
  const installation = await ports.installation();
  const { secrets, audit } = installation;
  const destroyed = await destroyedOf(installation);
  if (input.dry_run) return { answer: await countLoss(installation, destroyed), ...auditedDryRun() };
  const accepted = await inOwnerTransaction(administration, (owner) =>
    acceptSecretLoss(owner, { secrets, audit, destroyed }, { ...agentOf(caller), reason }),
  );
  if (accepted) return { answer: accepted };
  throw new OperatorError("state-conflict", "The key store has the secrets again: no loss was accepted.");
};

type LossParts = Pick<Installation, "attested" | "codec" | "journal" | "keyStore" | "pool" | "secrets">;

/**
 * The secrets that the journal records as destroyed. Entries of the journal that are not applied yet are tolerated
 * here, because their replay may need the acceptance of the loss.
 */
const destroyedOf = async (installation: LossParts): Promise<ReadonlySet<string>> =>
  destroyedSecrets(await compareWithJournal({ ...installation, executor: installation.pool }, "start"));

/** @throws state-conflict if no secret is lost. */
async function countLoss({ pool, secrets }: LossParts, destroyed: ReadonlySet<string>): Promise<LossCounts> {
  const loss = await findLoss(pool, secrets, destroyed);
  if (isNothing(loss))
    throw new OperatorError("state-conflict", "The key store has every secret that an event needs: nothing is lost.");
  return loss.counts;
}

const versionsOf = ({ keyStore, keyEncryption }: KeyParts): Promise<readonly KeyVersion[]> =>
  listKeyVersions(keyStore, keyEncryption);

function requireKnownKeys(versions: readonly KeyVersion[]): void {
  const lost = versions.filter(({ known }) => !known);
  if (lost.length === 0) return;
  const names = lost.map(({ version, secrets }) => `${version} (${plural(secrets, "secret")})`).join(", ");
  throw new OperatorError(
    "state-conflict",
    `Secrets are wrapped under versions whose keys are missing here: ${names}. Configure those keys first.`,
  );
}

function requireUnused(versions: readonly KeyVersion[], version: string): void {
  const found = versions.find((one) => one.version === version && one.known);
  if (!found) throw new OperatorError("not-found", "There is no such version: see drs key list.");
  // guard(drop): the current version is not destroyed
  if (found.current) throw new OperatorError("state-conflict", "It is the current version: drs key rotate first.");
  // guard(drop): a version that wraps secrets is not destroyed
  if (found.secrets > 0)
    throw new OperatorError(
      "state-conflict",
      `The version still wraps ${plural(found.secrets, "secret")}: drs key rotate first.`,
    );
}
