import { access } from "node:fs/promises";
import { hasCode, OperatorError } from "../base/errors/operator-error.ts";
import { readAdoptedFieldsFile } from "../ingest/adopted-fields/adopted-fields-file.ts";
import { describeBytes } from "../base/messages/bytes.ts";
import { describeDuration } from "../base/messages/duration.ts";
import { plural } from "../base/messages/plural.ts";
import { requireReplayed } from "../lifecycle/recovery/compare-with-journal.ts";
import { DIRECT_USE } from "../audit/review-reads.ts";
import { LATE_MS, readLastVerification } from "../audit/audit-watch.ts";
import { findOldestUnsigned, lastCheckpoint } from "../audit/log-table.ts";
import { askSink, stateOfSink } from "../audit/sink-states.ts";
import { countForgedReviews } from "../audit/review-table.ts";
import { countOutcomes, findUnreviewedUse, findUnverified } from "../audit/search-audit.ts";
import { readErasureState } from "../lifecycle/erasure/erasure-table.ts";
import { listAcceptedEntryLosses } from "../lifecycle/journal/applied-entries.ts";
import { readDataRequestCounts } from "../lifecycle/requests/request-table.ts";
import { readHoldState } from "../lifecycle/holds/hold-table.ts";
import { readRestrictionState } from "../lifecycle/restrictions/restriction-table.ts";
import { describeBackup, readBackupStates } from "../lifecycle/backups/backup-state.ts";
import { readPolicyVersion } from "../purposes/policy-table.ts";
import { readRetentionState } from "../lifecycle/retention/run-table.ts";
import { listAcceptedSecretLosses } from "../store/accounts/secret-losses.ts";
import { findLostSecrets, sealedUnder } from "../lifecycle/recovery/lost-secrets.ts";
import { MAX_UNSIGNED } from "../store/crypto/row-signer.ts";
import type { Config } from "../base/config/config.ts";
import { boundedBy } from "../base/dependencies/file-calls.ts";
import type { OperatorErrorCode } from "../base/errors/codes.ts";
import { requireWritableFolder } from "../base/files/unwritable.ts";
import { Dependencies, DEPENDENCIES, type DependencyName } from "../base/dependencies/dependencies.ts";
import { findLogKey } from "../runtime/audit-log.ts";
import { hasOwnerLogin, isOwner } from "../runtime/connect.ts";
import type { VerifierParts } from "../runtime/audit-verifier.ts";
import type { Installation } from "../runtime/open-installation.ts";
import type { RecoveryParts } from "../runtime/recover.ts";
import { findWarnings } from "../runtime/shared-clusters.ts";
import { Unavailable } from "../base/ports.ts";
import type { Warning } from "../base/config/warnings.ts";
import { DEMO_NOTE, isDemo } from "../store/postgres/demo.ts";
import { asUnusable } from "../store/postgres/errors.ts";
import { queryRow, sql } from "../store/postgres/statement.ts";
import { type Capacity, type CapacityParts, examineCapacity } from "./capacity.ts";

export interface Finding {
  readonly what: string;
  readonly ok: boolean;
  /** If the check did not fail: the severity of what it found. */
  readonly severity?: Warning["severity"];
  readonly detail: string;
  /** How long a dependency took to answer. */
  readonly took_ms?: number;
  /** Whether nothing was tried, because something that the check needs failed. */
  readonly skipped?: true;
}

const MIN_FREE_BYTES = 2 * 1024 ** 3;
/** A disk that is full sooner is a failure, or a warning. */
const MIN_DAYS = 7;
const FEW_DAYS = 30;
const MANY_DAYS = 3_650;
const MAX_CLOCK_DIFFERENCE_MS = 2_000;

const EXAMINE_DATABASE = sql(
  `select extract(epoch from wall_clock_time())::float8 * 1000 as now_ms, current_setting('server_version') as version,
       current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit, session_user as login, pg_is_in_recovery() as standby,
       current_setting('wal_compression') as wal_compression,
       (select usesuper from pg_user where usename = session_user)
         or pg_has_role(session_user, (select tableowner from pg_tables where schemaname = 'drs' and tablename = 'event'), 'member') as owns`,
  [],
  {
    now_ms: "float8",
    version: "text",
    fsync: "text",
    commit: "text",
    login: "name",
    owns: "bool",
    standby: "bool",
    wal_compression: "text",
  },
);

/**
 * Finds, for each role of a surface, the logins that have this role and neither the other one nor `drs_service`.
 * Superusers have all roles, so they are not among them.
 */
const FIND_SEPARATED = sql(
  `select
      coalesce(array_agg(rolname::text) filter (where pg_has_role(oid, 'drs_ingest', 'member')), '{}') as ingest,
      coalesce(array_agg(rolname::text) filter (where pg_has_role(oid, 'drs_admin', 'member')), '{}') as admin
    from pg_roles where rolcanlogin and not pg_has_role(oid, 'drs_service', 'member')
      and pg_has_role(oid, 'drs_ingest', 'member') <> pg_has_role(oid, 'drs_admin', 'member')`,
  [],
  { ingest: "text[]", admin: "text[]" },
);

/** The parts of an installation that the checks examine. */
export type Examined = RecoveryParts &
  VerifierParts &
  CapacityParts &
  Pick<Installation, "approvals" | "config" | "dependencies" | "driftDecisions" | "keyEncryption">;

/** A dependency that takes longer to answer is slow, although it answers. */
const SLOW_MS = 2_000;

/** The finding about a dependency that was asked at `start`, with the time until now. @param start by `performance.now` */
function answered(start: number, finding: Finding): Finding {
  const took_ms = Math.ceil(performance.now() - start);
  if (!finding.ok || finding.severity || took_ms < SLOW_MS) return { ...finding, took_ms };
  return { ...finding, took_ms, severity: "warning", detail: `${finding.detail}, but slowly` };
}

type Check = (installation: Examined, isStandby: boolean) => Promise<Finding | readonly Finding[]>;

const CHECKS: readonly (readonly [what: string, check: Check])[] = [
  ["keys", keyFinding],
  ["stores", storeFindings],
  ["owner's login", ownerFinding],
  ["purposes", purposeFinding],
  ["retention", retentionFinding],
  ["holds", holdFinding],
  ["restrictions", restrictionFinding],
  ["erasures", erasureFinding],
  ["requests", requestFinding],
  ["backups", backupFinding],
  ["direct use", directUseFinding],
  ["reviews", reviewFinding],
  ["audit log", auditLogFinding],
  ["audit entries", unverifiedFinding],
  ["worker", workerFinding],
  ["approvals", approvalFinding],
  ["drift decisions", driftFinding],
  ["adopted fields", adoptedFinding],
  ["identity provider", identityFinding],
];

/** The checks of `CHECKS` that also examine an installation that can't be opened. */
const ALWAYS_POSSIBLE = new Set(["stores", "adopted fields", "identity provider"]);
const OF_INSTALLATION = [
  "database",
  "durability",
  "WAL",
  "privileges",
  "separation",
  "migrations",
  ...CHECKS.map(([what]) => what).filter((what) => !ALWAYS_POSSIBLE.has(what)),
  "disk",
  "partitions",
  "locks",
  "clock",
];

/**
 * Examines an open installation. An installation with a problem of its configuration or schema can't be opened, so the
 * findings about configuration and schema always pass. A check that fails with an error is a finding.
 * @throws Unavailable if the database gives no answer
 */
export async function examine(installation: Examined): Promise<readonly Finding[]> {
  const { config, pool, clock } = installation;
  const findings: Finding[] = [{ what: "configuration", ok: true, detail: "valid" }];
  const before = clock.now();
  const start = performance.now();
  const row = await queryRow(pool, EXAMINE_DATABASE);
  const after = clock.now();
  const detail = `PostgreSQL ${row.version}${config.embedded ? ", embedded" : ""}${row.standby ? ", a read-only standby" : ""}`;
  findings.push(answered(start, { what: "database", ok: true, detail }));
  if (await isDemo(pool)) findings.push({ what: "demo", ok: true, severity: "advice", detail: DEMO_NOTE });
  findings.push({
    what: "durability",
    ok: row.fsync === "on" && row.commit !== "off",
    detail: `fsync=${row.fsync}, synchronous_commit=${row.commit}${row.fsync === "on" ? "" : ": turn fsync on, or a crash loses answered events"}`,
  });
  findings.push(walFinding(row.wal_compression, config.embedded));
  findings.push({
    what: "privileges",
    ok: true,
    detail: row.owns
      ? `the serving login ${row.login} could act as the owner: name a lesser one in DRS_DATABASE_URL and the owner in DRS_MIGRATION_DATABASE_URL`
      : `the serving login ${row.login} owns nothing`,
  });
  findings.push(await separationFinding(installation));
  findings.push({ what: "migrations", ok: true, detail: "the schema is up to date" });
  for (const [what, check] of CHECKS) {
    const found = await check(installation, row.standby).catch((error: unknown): Finding => {
      if (!(error instanceof OperatorError)) throw error;
      return { what, ok: false, detail: error.message };
    });
    findings.push(...(Array.isArray(found) ? (found as readonly Finding[]) : [found as Finding]));
  }
  for (const warning of await findWarnings(installation)) {
    findings.push({ what: "configuration", ok: true, ...warning });
  }
  const { disk, partitions, locks } = await examineCapacity(installation);
  findings.push(diskFinding(disk), partitionFinding(partitions), lockFinding(locks));
  const difference = Math.round(Math.abs((row.now_ms - before + (row.now_ms - after)) / 2));
  findings.push({
    what: "clock",
    ok: difference <= MAX_CLOCK_DIFFERENCE_MS,
    detail: `${describeDuration(difference)} between this host and the database${difference <= MAX_CLOCK_DIFFERENCE_MS ? "" : ": synchronise both (NTP)"}`,
  });
  return findings;
}

/** PostgreSQL writes a page whole to the WAL when it changes first after a checkpoint. The embedded one has no lz4. */
function walFinding(compression: string, isEmbedded: boolean): Finding {
  const state = `wal_compression=${compression}`;
  if (compression !== "off" || isEmbedded) return { what: "WAL", ok: true, detail: state };
  const advice = "set it to lz4, or to on where PostgreSQL lacks lz4: checkpoints then write less";
  return { what: "WAL", ok: true, severity: "advice", detail: `${state}: ${advice}` };
}

/** Examines an installation that can't be opened, as far as that is possible. @param cause why it can't be opened */
export async function examineUnopened(config: Config, cause: OperatorError): Promise<readonly Finding[]> {
  const failed = checkOf(cause.code);
  const dependencies = new Dependencies(config.dependencyTimeoutMs);
  const bounded = boundedBy(dependencies.get("key_store"));
  const folders = [
    ["key_store", config.keys.directory],
    ["erasure_journal", config.journal.directory],
    ["audit_checkpoints", config.audit.checkpointDirectory],
  ] as const;
  // A command that only looks makes no folder. A folder that does not answer in time is reported below.
  const isThere = (folder: string): Promise<boolean> =>
    bounded(() =>
      access(folder).then(
        () => true,
        ({ code }: NodeJS.ErrnoException) => code !== "ENOENT",
      ),
    ).catch(() => true);
  const stores: [DependencyName, () => Promise<void>][] = [];
  for (const [name, folder] of folders) {
    if (folder === undefined || !(await isThere(folder))) continue;
    stores.push([name, () => bounded(() => requireWritableFolder("the folder", folder))]);
  }
  return [
    { what: "configuration", ok: true, detail: "valid" },
    { what: failed, ok: false, detail: cause.message },
    ...(await tryStores(stores)),
    await adoptedFinding({ config }),
    ...(await identityFinding({ config, dependencies })),
    ...OF_INSTALLATION.filter((what) => what !== failed).map(
      (what) => ({ what, ok: false, detail: `skipped: needs the ${failed}`, skipped: true }) as const,
    ),
  ];
}

/** The check that fails if an installation can't be opened with this code. */
function checkOf(code: OperatorErrorCode): string {
  if (/^(?:key|secret|stores)-/.test(code)) return "keys";
  if (code.startsWith("journal-")) return "erasures";
  return /^(?:schema|installation)-/.test(code) ? "migrations" : "database";
}

/**
 * Reports whether ingestion and the admin API have separate logins and MAC keys. It only advises, because a small
 * installation needs no separation.
 */
async function separationFinding({ pool, audit }: Examined): Promise<Finding> {
  const logins = await queryRow(pool, FIND_SEPARATED);
  const surfaces = [
    ["ingestion", logins.ingest],
    ["the admin API", logins.admin],
  ] as const;
  const described = surfaces.map(([name, own]) =>
    own.length === 0 ? `${name} has no login of its own` : `${name} has ${own.join(", ")}`,
  );
  const hasLogins = surfaces.every(([, own]) => own.length > 0);
  const hasKeys = Object.keys(audit.replaced).length > 0;
  if (hasLogins && !hasKeys) described.push("each process has the MAC keys of all surfaces (DRS_AUDIT_KEY_FILE)");
  const isSeparated = hasLogins && hasKeys;
  const advice = isSeparated ? "" : ": see Separate the surfaces in docs/operator/databases.md";
  return {
    what: "separation",
    ok: true,
    ...(!isSeparated && { severity: "advice" as const }),
    detail: described.join("; ") + advice,
  };
}

/** Reports whether the identity provider answers. Gives no finding if none is configured. */
export async function identityFinding({
  config,
  dependencies,
}: Pick<Examined, "config" | "dependencies">): Promise<readonly Finding[]> {
  const { oidc, publicUrl = "" } = config.service.admin;
  const { issuer, clientId, clientSecret, scopes } = oidc;
  if (issuer === undefined || clientId === undefined) return [];
  const { identityProvider } = await import("../access/identity/identity-provider.ts");
  const dependency = dependencies.get("identity_provider");
  const options = { issuer, clientId, clientSecret, scopes, redirectUri: publicUrl, dependency };
  const what = "identity provider";
  const start = performance.now();
  const finding = await identityProvider(options)
    .check()
    .then(
      () => ({ what, ok: true, detail: `${issuer} answers` }),
      (error: unknown) => {
        if (!(error instanceof Unavailable)) throw error;
        return { what, ok: false, detail: `${issuer}: ${error.message}: no person can sign in; sessions continue` };
      },
    );
  return [answered(start, finding)];
}

/** Maximum number of lost secrets that are described one by one. */
const MAX_DESCRIBED = 20;

async function keyFinding({ pool, keyStore, keyEncryption, secrets }: Examined): Promise<Finding> {
  const lost = await findLostSecrets(pool, secrets);
  if (lost.length === 0) {
    const fits =
      `${keyStore.description}; the installation's secret fits the database; ` +
      `the key-encryption key comes from ${keyEncryption.description}`;
    const losses = (await listAcceptedSecretLosses(pool)).map(
      ({ accepted_at, secrets: count, events, copies }) =>
        `; the loss of ${count} secrets was accepted on ${accepted_at}: ${events} events and ${copies} copies could not be opened`,
    );
    return { what: "keys", ok: true, detail: fits + losses.join("") };
  }
  const described: string[] = [];
  for (const name of lost.slice(0, MAX_DESCRIBED)) {
    const { events, first, last } = await sealedUnder(pool, name);
    described.push(`${name}: ${plural(events, "event")}${first === null ? "" : ` from ${first} to ${last}`}`);
  }
  const advice =
    "restore the latest copy of the key store, or accept the loss (drs key accept-loss): nothing is stored until then";
  return {
    what: "keys",
    ok: false,
    detail: `lost: ${plural(lost.length, "secret")}; ${advice}. ${described.join("; ")}`,
  };
}

/** Tries a write to each store next to the events' database. */
async function storeFindings({ keyStore, journal, checkpointSinks }: Examined): Promise<readonly Finding[]> {
  return tryStores([
    ["key_store", () => keyStore.requireWritable()],
    ["erasure_journal", journal && (() => journal.requireWritable())],
    ...checkpointSinks.map(({ requireWritable }) => ["audit_checkpoints", requireWritable] as const),
  ]);
}

async function tryStores(
  stores: readonly (readonly [DependencyName, (() => Promise<void>) | undefined])[],
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const [name, requireWritable] of stores) {
    if (!requireWritable) continue;
    const what = DEPENDENCIES[name].title;
    const start = performance.now();
    const finding = await requireWritable().then(
      () => ({ what, ok: true, detail: "can be written" }),
      (error: unknown) => {
        if (!(error instanceof Unavailable)) throw error;
        return { what, ok: false, detail: error.message };
      },
    );
    findings.push(answered(start, finding));
  }
  return findings;
}

/** Logs in as the owner, whose login changes holds and policies and erases. */
async function ownerFinding({ administration, config }: Examined): Promise<Finding> {
  const what = "owner's login";
  const start = performance.now();
  try {
    const owns = await isOwner(administration);
    if (owns) return answered(start, { what, ok: true, detail: "logs in, and owns the tables" });
  } catch (error) {
    return answered(start, { what, ok: false, detail: asUnusable(error, DEPENDENCIES.owner_database.title).message });
  }
  const changes = "holds, policies and erasures can't be changed";
  return hasOwnerLogin(config)
    ? { what, ok: false, detail: `DRS_MIGRATION_DATABASE_URL does not name the owner of the tables: ${changes}` }
    : { what, ok: true, severity: "advice", detail: `no DRS_MIGRATION_DATABASE_URL: ${changes} from here` };
}

/** Reports how long the disk lasts at the rate of the last days. */
export function diskFinding({ free_bytes: free, bytes_per_day, days }: Capacity["disk"]): Finding {
  const what = "disk";
  const rate = `${describeBytes(bytes_per_day)} a day`;
  if (free === null) {
    const advice = "declare its size in DRS_DATABASE_DISK_BYTES";
    return { what, ok: true, severity: "advice", detail: `unknown: it can't be seen from here: ${advice}; ${rate}` };
  }
  const end = days === null ? "does not fill at this rate" : `full in ${describeDays(days)}`;
  const detail = `${describeBytes(free)} free, ${rate}: ${end}`;
  if (free < MIN_FREE_BYTES || (days !== null && days < MIN_DAYS)) {
    const advice = "enlarge it or shorten periods, because ingestion stops when it is full";
    return { what, ok: false, detail: `${detail}: ${advice}` };
  }
  return { what, ok: true, ...(days !== null && days < FEW_DAYS && { severity: "warning" as const }), detail };
}

const describeDays = (days: number): string =>
  days < MANY_DAYS ? plural(Math.floor(days), "day") : "ten years or later";

const OUTCOME_TEXTS: Readonly<Record<string, string>> = {
  "purpose-missing": "rejected (purpose-missing)",
  "purpose-exceeded": "rejected (purpose-exceeded)",
  unmapped: "stored under the purpose of unmapped action types",
  "beyond-purpose": "hold more than their purpose covers",
};

/**
 * Reports the policy, and the events of the last day that it did not map or cover. They are no error, but the operator
 * should see them.
 */
async function purposeFinding({ pool, config }: Examined): Promise<Finding> {
  const counts = await countOutcomes(pool, Object.keys(OUTCOME_TEXTS));
  const version = await readPolicyVersion(pool);
  const policy =
    version === 0 ? "no policy: every event is kept without end; see drs purpose apply" : `policy ${version}`;
  const outcomes = counts.map(({ outcome, events }) => `${events} ${OUTCOME_TEXTS[outcome]}`).join(", ");
  const detail =
    outcomes === ""
      ? policy
      : `${policy}; in the last day ${outcomes.replace(/^\d+/, (count) => plural(Number(count), "event"))}`;
  if (version > 0) return { what: "purposes", ok: true, detail };
  return { what: "purposes", ok: true, severity: config.embedded ? "advice" : "warning", detail };
}

/** Servers look for expired partitions every few seconds, so a longer lag means that something blocks them. */
const MAX_LAG_SECONDS = 3_600;

async function retentionFinding({ pool }: Examined): Promise<Finding> {
  const { overdue_partitions, lag_seconds, secrets_to_destroy } = await readRetentionState(pool);
  const ok = lag_seconds <= MAX_LAG_SECONDS;
  const state = `${plural(overdue_partitions, "partition")} overdue, ${plural(secrets_to_destroy, "secret")} to destroy`;
  const detail = ok
    ? state
    : `${state}, the oldest for ${describeDuration(lag_seconds * 1_000)}: is a server running? See its log, and drs retention run`;
  return { what: "retention", ok, detail };
}

/** A request makes a missing partition, but has to wait for it. `retention` fails if partitions are past due for long. */
function partitionFinding({ partitions, missing, overdue }: Capacity["partitions"]): Finding {
  const what = "partitions";
  const state = `${plural(partitions, "partition")}, ${overdue} past due`;
  if (missing.length === 0) return { what, ok: true, detail: `${state}, none missing ahead` };
  const gaps = missing.slice(0, MAX_DESCRIBED).map(({ purpose, from }) => `${purpose} from ${from}`);
  const detail = `${state}, missing ahead: ${gaps.join(", ")}: a running server makes them every hour`;
  return { what, ok: true, severity: "advice", detail };
}

/**
 * Statements of the server lock few partitions. A backup or a manual query may lock all of them, and then other
 * sessions get no locks.
 */
export function lockFinding({ needed, available, max_locks_per_transaction: least }: Capacity["locks"]): Finding {
  const ok = needed <= available;
  const state = `a query over all partitions takes ${needed} of the cluster's ${available} locks`;
  const advice = `set max_locks_per_transaction to ${least} or more and restart PostgreSQL`;
  return { what: "locks", ok, detail: ok ? state : `${state}: ${advice}` };
}

async function holdFinding({ pool }: Examined): Promise<Finding> {
  const { holds, reviews_overdue, unresolved, copies } = await readHoldState(pool);
  const waiting = unresolved === 0 ? "" : ` (${unresolved} unresolved: account or action not known yet)`;
  const state = `${plural(holds, "hold")}${waiting}, ${plural(copies, "copy", "copies")} of held events`;
  const late = `the review of ${plural(reviews_overdue, "hold")} is overdue`;
  const overdue = `; ${late}: drs hold list, then drs hold review or lift`;
  return { what: "holds", ok: reviews_overdue === 0, detail: reviews_overdue === 0 ? state : state + overdue };
}

/** A restriction of article 18 lasts until a fact is verified. The verification should take no longer than this. */
const LONG_RESTRICTION_MS = 180 * 86_400_000;

/** A restriction does not expire, so one that is active for long may have been forgotten. */
async function restrictionFinding({ pool, clock }: Examined): Promise<Finding> {
  const before = new Date(clock.now() - LONG_RESTRICTION_MS).toISOString();
  const { restrictions, long_active } = await readRestrictionState(pool, before);
  const what = "restrictions";
  if (restrictions === 0) return { what, ok: true, detail: "none is active" };
  const detail = `active: ${restrictions}; inform the person before you lift one (drs restriction lift --informed-on)`;
  if (long_active === 0) return { what, ok: true, detail };
  const reminder = `${long_active} of article 18 for more than 180 days: see drs restriction list`;
  return { what, ok: true, severity: "advice", detail: `${detail}; ${reminder}` };
}

async function erasureFinding(installation: Examined, isStandby: boolean): Promise<Finding> {
  const { pool, journal } = installation;
  const { erasures, unfinished, stuck } = await readErasureState(pool, MAX_LAG_SECONDS);
  try {
    await requireReplayed({ ...installation, executor: pool }, "start");
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    if (!isStandby || !hasCode(error, "replay-needed")) return { what: "erasures", ok: false, detail: error.message };
    return { what: "erasures", ok: true, severity: "advice", detail: "the standby is behind the erasure journal" };
  }
  const losses = await listAcceptedEntryLosses(pool);
  const lost = losses.length === 0 ? "" : `; the loss of entries ${losses.join(", ")} of the journal was accepted`;
  const state = `${erasures} in ${journal?.description ?? "no journal: no erasure is possible"}, ${unfinished} to be finished${lost}`;
  return {
    what: "erasures",
    ok: !stuck,
    detail: stuck ? `${state}: see the servers' log, and drs retention run` : state,
  };
}

/** Reports how old the latest recorded backup of each store is. */
async function backupFinding({ pool, clock, config }: Examined): Promise<Finding> {
  const what = "backups";
  const states = await readBackupStates(pool, clock, config);
  const missing = states.filter(({ taken_at }) => taken_at === null);
  const detail = states.map(describeBackup).join("; ");
  if (missing.length === states.length) {
    return { what, ok: true, severity: "advice", detail: "none is recorded: drs backup record" };
  }
  const isComplete = missing.length === 0 && states.every(({ problem }) => problem === null);
  return { what, ok: true, ...(!isComplete && { severity: "warning" as const }), detail };
}

/** Counts direct uses of the database for which the admin API would have required a case or an approval. */
async function directUseFinding({ pool, config, audit }: Examined): Promise<Finding> {
  const what = "direct use";
  const { entries, since } = await findUnreviewedUse(pool, audit, DIRECT_USE);
  if (entries === 0) return { what, ok: true, detail: "every read of payloads and every destruction was reviewed" };
  const state = `commands on the database read payloads or destroyed data: ${plural(entries, "entry", "entries")} since ${since}`;
  const severity = config.embedded ? "advice" : "warning";
  return {
    what,
    ok: true,
    severity,
    detail: `${state} without a closed review: see drs review list and drs audit review`,
  };
}

/** The words before a count of rows that the server did not sign. */
const atLeast = (counted: number): string => (counted < MAX_UNSIGNED ? "" : "at least ");

async function reviewFinding({ pool, audit }: Examined): Promise<Finding> {
  const what = "reviews";
  const forged = await countForgedReviews(pool, audit);
  // guard(false): a review that a login of the database opened or closed is a finding
  if (forged > 0) {
    const detail = `${atLeast(forged)}${plural(forged, "row")} of reviews and their ends of the last 30 days that the server did not sign, and that count for nothing: see who has logins of the database`;
    return { what, ok: false, detail };
  }
  return { what, ok: true, detail: "the server opened and closed each review of the last 30 days" };
}

/** Reports whether the log grows, whether each sink has its latest checkpoint, and what the last verification found. */
async function auditLogFinding(installation: Examined): Promise<Finding> {
  const { pool, audit, clock, checkpointSinks } = installation;
  const what = "audit log";
  const key = await findLogKey(installation);
  const asked = await Promise.all(checkpointSinks.map(askSink));
  const latest = await lastCheckpoint(pool);
  const oldest = await findOldestUnsigned(pool);
  const verified = await readLastVerification(pool, audit);
  const ageMs = oldest ? clock.now() - oldest.written_at : 0;
  const isLate = ageMs > LATE_MS;
  const states = key ? asked.map((sink) => stateOfSink(sink, key, latest?.note)) : [];
  const wrong = states.filter(({ state }) => state === "away" || state === "different");
  const parts = [
    isLate
      ? `the oldest entry without a checkpoint is ${Math.round(ageMs / 60_000)} minutes old: see that a worker runs, and its log`
      : `${plural(latest?.size ?? 0, "entry", "entries")} in the latest checkpoint`,
    ...states.map(({ name, state, size }) => {
      const advice = state === "different" ? ": run drs audit verify, and after a restore drs audit epoch" : "";
      return `${name}: ${state} (${plural(size, "entry", "entries")})${advice}`;
    }),
    verified
      ? `verified by a worker on ${new Date(verified.at).toISOString()}: ${VERDICTS[verified.verdict]}`
      : "not verified by a worker yet",
  ];
  // guard(true): a result that a login of the database replaced, which reads as unchecked, hides no broken log
  const isConfirmed = !verified || verified.verdict === 0 || verified.verdict === 3;
  return { what, ok: !isLate && wrong.length === 0 && isConfirmed, detail: parts.join("; ") };
}

const VERDICTS = {
  0: "intact",
  1: "could not be checked",
  3: "intact, but not confirmed outside",
  6: "broken: run drs audit verify",
} as const;

async function unverifiedFinding({ pool, audit }: Examined): Promise<Finding> {
  const what = "audit entries";
  const { entries, since } = await findUnverified(pool, audit);
  if (entries === 0) return { what, ok: true, detail: "no entry in the log lacks a valid MAC, except reviewed ones" };
  const detail = `${plural(entries, "entry", "entries")} since ${since} that a login of the database inserted, and that count for nothing: see drs audit verify, close a review of each (drs review open), and see who has logins of the database`;
  return { what, ok: false, detail };
}

async function workerFinding({ config }: Examined): Promise<Finding> {
  const what = "worker";
  const { workerUrl } = config.service.admin;
  if (workerUrl === undefined) {
    return { what, ok: true, detail: "DRS_WORKER_URL is not set: a process of the admin API must be a worker, too" };
  }
  const { origin } = new URL(workerUrl);
  const signal = AbortSignal.timeout(config.dependencyTimeoutMs);
  const start = performance.now();
  const state = await fetch(new URL("/readyz", workerUrl), { signal, redirect: "error" })
    .then(async (response) => (response.ok ? undefined : `it is not ready: ${(await response.text()).slice(0, 500)}`))
    .catch(
      ({ cause, name }: Error) => `it can't be reached (${(cause as NodeJS.ErrnoException | undefined)?.code ?? name})`,
    );
  const detail = state === undefined ? `${origin} is ready` : `${origin}: ${state}`;
  return answered(start, { what, ok: state === undefined, detail });
}

async function approvalFinding({ pool, clock, approvals }: Examined): Promise<Finding> {
  const what = "approvals";
  const changed = await approvals.countChanged(pool, clock);
  // guard(false): an approval that a login of the database wrote is a finding
  if (changed > 0) {
    const detail = `${atLeast(changed)}${plural(changed, "approval")} of the last 30 days that the admin API did not sign, and that allow nothing: see drs approval list, and who has logins of the database`;
    return { what, ok: false, detail };
  }
  return { what, ok: true, detail: "the admin API signed each request and decision of the last 30 days" };
}

async function driftFinding({ pool, clock, driftDecisions }: Examined): Promise<Finding> {
  const what = "drift decisions";
  const forged = await driftDecisions.countForged(pool, clock);
  // guard(false): a decision about drift that a login of the database wrote is a finding
  if (forged > 0) {
    const detail = `${atLeast(forged)}${plural(forged, "decision")} of the last 30 days that the server did not sign, and that count for nothing: see the table drift_decision, and who has logins of the database`;
    return { what, ok: false, detail };
  }
  return { what, ok: true, detail: "the server signed each decision of the last 30 days" };
}

async function adoptedFinding({ config }: Pick<Examined, "config">): Promise<Finding> {
  const file = config.adoptedFieldsFile;
  const what = "adopted fields";
  if (file === undefined)
    return { what, ok: true, detail: "no file: no field of an event is checked against the catalog" };
  const read = await readAdoptedFieldsFile(file);
  return read.ok
    ? { what, ok: true, detail: `${read.adopted.paths.length} of ${file}` }
    : {
        what,
        ok: false,
        detail: `${file} ${read.problem}: running servers keep the fields before it, and none starts`,
      };
}

async function requestFinding({ pool }: Examined): Promise<Finding> {
  const { requests_open, requests_overdue, requests_completable } = await readDataRequestCounts(pool);
  const ok = requests_overdue === 0 && requests_completable === 0;
  const state =
    `open: ${plural(requests_open, "request")} of data subjects, ${requests_overdue} overdue; ` +
    `closed partly, and no hold keeps anything of them: ${requests_completable}`;
  return { what: "requests", ok, detail: ok ? state : `${state}: drs request list` };
}
