/** The work of `drs audit verify`, `switch-keys`, `epoch` and `prune` on the database, the stores and exports. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { checkpointNow, pruneNow, startEpochNow } from "../runtime/audit-log.ts";
import { checkpointSinks } from "../runtime/checkpoint-sinks.ts";
import { openJournal } from "../runtime/open-installation.ts";
import { openKeys } from "../runtime/open-keys.ts";
import { unchecked, verifyAuditLog, type Verified } from "../runtime/verify-audit.ts";
import { parseLogKey } from "../audit/log/checkpoint.ts";
import { parseHeader, parseItem } from "../audit/log/export-file.ts";
import { type LogItem, type Verification, verifyLog } from "../audit/log/verify.ts";
import { changeSurfaceKeys } from "../audit/surface-keys.ts";
import type { VerificationRequest } from "../audit/verification-table.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { readInstallationId } from "../lifecycle/recovery/installation.ts";
import { inTransaction } from "../store/postgres/database.ts";
import { signBreakGlassCheckpoint } from "./break-glass.ts";
import { withConnection, withInstallation } from "./connection.ts";
import { agentOf, type Context } from "./context.ts";
import { installationLine } from "./local.ts";

export { unchecked };

/** Verifies the log in the database, also without the key store if the caller gave the public key. */
export function verifyHere(context: Context, request: VerificationRequest): Promise<Verified> {
  return withConnection(context, "read", async (connection) => {
    const keys = await openKeys(connection).catch((error: unknown) => {
      // If the caller gave the public key, hashes and checkpoints are verified even without the key store.
      if (request.key === undefined || !(error instanceof OperatorError)) throw error;
      return undefined;
    });
    const sinks = checkpointSinks(connection, await openJournal(connection));
    const installation = await readInstallationId(connection.pool);
    context.stderr.write(installationLine(context, installation));
    return { ...(await verifyAuditLog({ ...connection, sinks, keys }, request)), installation };
  });
}

/** Verifies an export of the log. */
export async function verifyExport(
  path: string,
  outside: readonly string[],
  keyText: string | undefined,
): Promise<Verification> {
  const lines = linesOf(path)[Symbol.asyncIterator]();
  const first = await lines.next();
  const header = first.done ? undefined : parseHeader(first.value);
  if (!header) throw new OperatorError("input-invalid", `${path} is no export of the audit log`);
  const key = parseLogKey(keyText ?? header.key);
  if (!key) throw unchecked("the key of the log is not readable");
  return verifyLog(itemsOf(lines, path), { key, outside, now: Date.parse(header.exportedAt) });
}

async function* linesOf(path: string): AsyncGenerator<string> {
  const input = createReadStream(path);
  try {
    yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  } catch (cause) {
    throw new OperatorError("input-invalid", `${path} can't be read`, { cause });
  }
}

async function* itemsOf(lines: AsyncIterator<string>, path: string): AsyncGenerator<LogItem> {
  for (let line = await lines.next(); !line.done; line = await lines.next()) {
    const item = parseItem(line.value);
    if (!item) throw unchecked(`${path} has a line that is neither an entry nor a checkpoint`);
    yield item;
  }
}

/** Activates the keys of the file of audit keys. @returns whether this changed anything. */
export const switchKeys = (context: Context): Promise<boolean> =>
  withInstallation(context, "change", async (installation) => {
    const { audit, pool } = installation;
    const changed = await inTransaction(pool, (transaction) => changeSurfaceKeys(transaction, audit, agentOf(context)));
    const [error] = changed ? await checkpointNow(installation) : [];
    if (error !== undefined) throw error;
    return changed;
  });

/** Continues the log of a restored database. */
export const startEpoch = (context: Context, reason: string): ReturnType<typeof startEpochNow> =>
  withInstallation(context, "change", (installation) =>
    startEpochNow(installation, { agent: agentOf(context), reason }),
  );

/** Deletes entries that are older than the retention period. */
export const prune = (context: Context): ReturnType<typeof pruneNow> =>
  withInstallation(context, "change", async (installation) => {
    const pruned = await pruneNow(installation, agentOf(context));
    if (pruned) await signBreakGlassCheckpoint(context, async () => installation);
    return pruned;
  });
