/** An account of a test, entries about it with personal reasons, and their secrets and reviews. */
import { randomUUID } from "node:crypto";
import { beforeEach } from "vitest";
import { AWAITED_LOCKS } from "../../../../e2e/support/database.ts";
import { until } from "../../../../e2e/support/embedded.ts";
import type { TestSystem } from "../../../../e2e/support/test-system.ts";
import { inOwnerTransaction, inTransaction, withClient } from "../store/postgres/database.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { type AuditRow, listAudit, writeAudit } from "./audit.ts";
import { destroyAuditSecrets, endAuditSecrets } from "./audit-secrets.ts";
import { closeReview, openReview, type ReviewEnd, type ReviewOrder } from "./reviews.ts";

export const HOUR_MS = 3_600_000;
export const AGENT = { actor: "cli:anna", via: "direct", operation: "o", outcome: "done" } as const;
export const PERSONAL = { reason: "Jane Doe disputes it", detail: { phone: "+41 79" } };
/** The order of another person to open or close a review. */
export const ORDER = { agent: { actor: "cli:auditor", via: "direct" }, reason: "no case behind it" } as const;

type Row = Record<string, unknown>;

export interface AuditedAccount {
  /** Another account in each test. */
  readonly account: string;
  /** Writes an entry with a personal reason about an account, by default the test's. @returns its id. */
  readonly write: (account?: string) => Promise<string>;
  /** Writes an entry with a personal reason about this account, or about none. @returns its id. */
  readonly writeOf: (about: { readonly account?: string }) => Promise<string>;
  /** The latest entries about an account, by default the test's. */
  readonly listed: (account?: string) => Promise<readonly AuditRow[]>;
  readonly secretsOf: (account?: string) => Promise<Row[]>;
  /** Ends the secrets of the test's account, as if an erasure had ended them this many milliseconds ago. */
  readonly endedAgo: (ms: number) => Promise<void>;
  /** Destroys the secrets that ended at least `retentionMs` ago. */
  readonly destroy: (retentionMs: number) => Promise<void>;
  /** Opens a review of an entry, by default as another person. @returns the id of the review. */
  readonly open: (entryId: string, order?: Partial<ReviewOrder>) => Promise<string>;
  /** Closes a review, by default as a person who may do so alone. @returns whether the review is closed. */
  readonly close: (reviewId: string, order?: Partial<ReviewEnd>) => Promise<boolean>;
  /** The rows of a statement of the owner. */
  readonly rowsOf: (text: string, ...values: unknown[]) => Promise<Row[]>;
  /** Runs SQL with the privileges of a role. */
  readonly asRole: (role: string, text: string, ...values: readonly unknown[]) => Promise<void>;
  /** Waits until a session waits for a lock. */
  readonly lockAwaited: () => Promise<void>;
  /** The plan of a query if PostgreSQL avoids sequential scans wherever it can use an index. */
  readonly planOf: (statement: { readonly text: string }, ...values: unknown[]) => Promise<string>;
  /** An executor that records the rows of each answer. */
  readonly recordingReads: () => { readonly executor: Executor; readonly read: (readonly object[])[] };
}

export function useAuditedAccount(opened: TestSystem): AuditedAccount {
  let account: string;
  beforeEach(() => void (account = `account-${randomUUID()}`));

  const rowsOf: AuditedAccount["rowsOf"] = async (text, ...values) =>
    (await opened.owner.query(text, values)).rows as Row[];
  const writeOf: AuditedAccount["writeOf"] = (about) =>
    writeAudit(opened.system.pool, opened.system.audit, { ...AGENT, ...PERSONAL, ...about });

  return {
    get account() {
      return account;
    },
    write: (of = account) => writeOf({ account: of }),
    writeOf,
    listed: (of = account) => {
      const { pool, secrets, audit } = opened.system;
      return listAudit(pool, () => secrets, { account: audit.named(of), limit: 10 });
    },
    secretsOf: (of = account) =>
      rowsOf("select secret_id, destroyed_at from audit_secret where subject = $1", opened.system.audit.subjectOf(of)),
    endedAgo: (ms) => {
      const { administration, pseudonymizer, audit } = opened.system;
      const endedAt = new Date(Date.now() - ms).toISOString();
      return inOwnerTransaction(administration, (owner) =>
        endAuditSecrets(owner, pseudonymizer, audit.subjectOf(account), endedAt),
      );
    },
    destroy: (retentionMs) =>
      withClient(opened.system.database, (connection) =>
        destroyAuditSecrets(connection, opened.system.audit, { retentionMs }),
      ),
    open: (entryId, order = {}) =>
      inTransaction(opened.system.pool, (transaction) =>
        openReview(transaction, opened.system.audit, entryId, { ...ORDER, ...order }),
      ),
    close: (reviewId, order = {}) =>
      inTransaction(opened.system.pool, (transaction) =>
        closeReview(transaction, opened.system.audit, reviewId, { ...ORDER, isAlone: true, ...order }),
      ),
    rowsOf,
    asRole: async (role, text, ...values) => {
      await opened.owner.query(`set role ${role}`);
      try {
        await opened.owner.query(text, [...values]);
      } finally {
        await opened.owner.query("reset role");
      }
    },
    lockAwaited: () => until(async () => (await rowsOf(`select ${AWAITED_LOCKS}`)).length > 0),
    planOf: ({ text }, ...values) =>
      inOwnerTransaction(opened.system.administration, async (owner) => {
        await owner.query("set local enable_seqscan = off");
        return JSON.stringify((await owner.query(`explain (format json) ${text}`, values)).rows);
      }),
    recordingReads: () => {
      const read: (readonly object[])[] = [];
      const executor = {
        query: async (text: string, values?: readonly unknown[]) => {
          const result = await opened.system.pool.query<never>(text, [...(values ?? [])]);
          read.push(result.rows);
          return result;
        },
      };
      return { executor, read };
    },
  };
}
