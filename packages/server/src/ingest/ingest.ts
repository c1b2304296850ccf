import type { ProblemCode, TransportRequest } from "@device-risk-signals/contract";
import type { AdoptedFields } from "@device-risk-signals/contract/catalog/adopted";
import {
  type Accounts,
  type ActionRegistry,
  type AdoptedFieldSet,
  type AuditLog,
  type Clock,
  type DriftLog,
  type EventStore,
  type IngestAudit,
  type LedgerEntry,
  type Meter,
  type OutcomeLog,
  type PromotedAttributes,
  type Purposes,
  type EventWarning,
  type OnRejected,
  type RecentRejectionLog,
  type RejectionLog,
  type Sealer,
  type SessionVerifier,
  type OnError,
  Unavailable,
} from "../base/ports.ts";
import { type Admission } from "./admission.ts";
import { admit, type AdmitOptions, assignPurpose, type Assignment } from "./admit.ts";
import { append } from "./append.ts";
import { authenticate } from "./authenticate.ts";
import { costOf, costOfComparison } from "./cost.ts";
import { type IngestHeaders, readHeaders } from "./headers.ts";
import { LimitedTasks } from "./limited-tasks.ts";
import { type BodyLimits, freeMemory, readBody } from "./read-body.ts";
import { readScan } from "./read-scan.ts";
import { createScanBody, type ScanBody } from "./scan-body.ts";
import { scanText, type TextScan } from "../base/json/scan-text.ts";
import { parseTextInTurns } from "./parse-text.ts";
import { answerCreated, type Retry, resolveDuplicate } from "./resolve-duplicate.ts";
import {
  type Answer,
  answerRejection,
  type AnswerHeaders,
  type IngestRequest,
  RejectedRequest,
  rejectRequest,
} from "./request.ts";
import type { FailureThrottle, RateThrottle, RateDecision } from "./throttle.ts";
import { uuidv7 } from "../base/identifiers/uuidv7.ts";
import { validate, type ValidRequest } from "./validate.ts";

export interface IngestPorts {
  readonly sessions: SessionVerifier;
  readonly actions: ActionRegistry;
  readonly purposes: Purposes;
  readonly accounts: Accounts;
  readonly store: EventStore;
  readonly sealer: Sealer;
  readonly audit: AuditLog;
  readonly adopted: AdoptedFieldSet;
  readonly drift: DriftLog;
  readonly outcomes: OutcomeLog;
  readonly rejections: RejectionLog;
  readonly recentRejections: RecentRejectionLog;
  readonly meter: Meter;
  readonly clock: Clock;
  readonly admission: Admission;
  readonly throttle: RateThrottle;
  readonly comparisons: RateThrottle;
  readonly failures: FailureThrottle;
  /** Called with unexpected errors. The endpoint answers 500 or 503 and continues. */
  readonly onError: OnError;
  /** Called with each rejected request. */
  readonly onRejected?: OnRejected;
}

export interface IngestOptions extends AdmitOptions, BodyLimits {}

/** Answers a request for the events resource. The promise never rejects. */
export type Ingest = (request: IngestRequest) => Promise<Answer>;

export function createIngest(ports: IngestPorts, options: IngestOptions): Ingest {
  const stages: Stages = { scanBody: createScanBody(ports), slowReads: new LimitedTasks(SLOW_READS) };
  return async (request) => {
    const started = performance.now();
    const progress: RequestProgress = { headers: {} };
    const result = await runStages(request, progress, stages, ports, options).catch((error: unknown) => {
      ports.onError(error, "ingest request");
      return error instanceof Unavailable ? rejectRequest("unavailable", RETRY_SOON) : rejectRequest("storage-failed");
    });
    const answer = result instanceof RejectedRequest ? answerRejection(result) : result;
    const code =
      result instanceof RejectedRequest ? result.rejection.code : answer.status === 201 ? "created" : "replayed";
    if (result instanceof RejectedRequest) {
      const { rejection, cause } = result;
      const ofCause = cause === undefined ? {} : { cause };
      const audited = auditedRejection(rejection.code, request, progress);
      ports.audit.record({ operation: "event.create", ...audited, ...ofCause });
      const { sdkVersion, account } = progress;
      ports.rejections.count(rejection, sdkVersion, cause);
      const kept = { account: audited.account, peer: request.peer };
      ports.recentRejections.add({ rejection, cause, sdkVersion, ...kept });
      ports.onRejected?.({
        status: answer.status,
        code: rejection.code,
        ...ofCause,
        ...(account !== undefined && { account }),
      });
    }
    ports.meter.answered(answer.status, code, (performance.now() - started) / 1000);
    return { ...answer, headers: { ...answer.headers, ...progress.headers } };
  };
}

/**
 * Maximum number of bodies that are read slowly, or compared in canonical form, at a time. The values of such a body can
 * take ten times its memory, which admission does not count. It is work of one thread, so that more at a time would not
 * be faster.
 */
const SLOW_READS = 1;

interface Stages {
  readonly scanBody: ScanBody;
  readonly slowReads: LimitedTasks;
}

const RETRY_SOON: AnswerHeaders = { "Retry-After": "1" };

/** What earlier stages found out about a request, for the answer and the audit entry if a later stage rejects it. */
interface RequestProgress {
  /** The account that the audit entry names; absent before authentication, and for a retry of an erased event. */
  account?: string;
  /** The id of the stored event with the same idempotency key; absent if there is none, or if the event is erased. */
  existingEventId?: string;
  /** The SDK version in the request, valid or not. Absent if the body was not parsed, or if it has no such text. */
  sdkVersion?: string;
  headers: AnswerHeaders;
}

function auditedRejection(
  outcome: ProblemCode,
  { peer }: IngestRequest,
  { account, existingEventId }: RequestProgress,
): Omit<IngestAudit, "operation"> {
  if (account === undefined || outcome === "account-erased") return { outcome, peer };
  const isConflict = outcome === "idempotency-conflict" && existingEventId !== undefined;
  return { outcome, account, ...(isConflict && { eventId: existingEventId }) };
}

/** The path of an event, from the request to the answer. */
async function runStages(
  request: IngestRequest,
  progress: RequestProgress,
  stages: Stages,
  ports: IngestPorts,
  options: IngestOptions,
): Promise<Answer | RejectedRequest> {
  // guard(false): POST is the only method
  if (request.method !== "POST") return rejectRequest("method-not-allowed", { Allow: "POST" });

  const session = await authenticate(request, ports.sessions, ports.failures);
  if (session instanceof RejectedRequest) return session;
  const { account } = session;
  progress.account = account;

  const tooMany = answerRateDecision(ports.throttle.take(account), progress);
  if (tooMany) return tooMany;

  const header = readHeaders(request.headers);
  if (header instanceof RejectedRequest) return header;

  if (!ports.store.available) return rejectRequest("unavailable", RETRY_SOON);
  const permit = ports.admission.enter(account, header, options.maxBodyBytes);
  if (permit instanceof RejectedRequest) return permit;
  try {
    const body = await readBody(request.body, header, options);
    if (body instanceof RejectedRequest) {
      if (body.rejection.code === "body-too-large")
        chargeRequest(account, costOf(options.maxBodyBytes, 0) - 1, progress, ports);
      return body;
    }
    const answer = await storeBody(body, account, header, progress, stages, ports, options);
    // From here on, no code reads the bytes of the event. An error leaves them to the garbage collection, because another
    // thread may still compress them.
    if (request.body.isUnshared) freeMemory(body);
    return answer;
  } finally {
    permit.release();
  }
}

/** Validates and stores the event of a body, or finds out that it is a retry. */
async function storeBody(
  body: Buffer,
  account: string,
  { idempotencyKey }: IngestHeaders,
  progress: RequestProgress,
  { scanBody, slowReads }: Stages,
  ports: IngestPorts,
  options: IngestOptions,
): Promise<Answer | RejectedRequest> {
  const scan = scanBody(body);
  const text = scan ?? scanText(body);
  const cost = costOf(body.length, text.members, text.escapes);
  const tooCostly = chargeRequest(account, cost - 1, progress, ports);
  if (tooCostly) return tooCostly;

  const adopted = ports.adopted.current;
  const valid =
    (scan && readScan(scan, body, adopted)) ?? (await slowReads.run(() => readSlowly(body, text, adopted, progress)));
  if (valid instanceof RejectedRequest) return valid;
  progress.sdkVersion = valid.attributes.sdkVersion;

  const chargeComparison = (): RejectedRequest | undefined =>
    chargeRequest(account, costOfComparison(cost), progress, ports);
  const retry: Retry = { account, idempotencyKey, body, parsed: valid.parsed, chargeComparison };
  const resolve = (entry: LedgerEntry): Promise<Answer | RejectedRequest> => {
    if (entry.location) progress.existingEventId = entry.eventId;
    else delete progress.account;
    return resolveDuplicate(retry, entry, { ...ports, slowReads });
  };
  const receivedAt = ports.clock.now();

  const admitted = await admit(account, valid, receivedAt, ports, options);
  if (admitted instanceof RejectedRequest) {
    const entry = await ports.store.findKey(account, idempotencyKey);
    // guard(false): a replay gets its answer, even if the request would be rejected
    return entry ? await resolve(entry) : admitted;
  }

  const attributes: Omit<PromotedAttributes, "purpose"> = {
    ...valid.attributes,
    account,
    eventId: uuidv7(receivedAt),
    receivedAt,
    idempotencyKey,
  };
  const requestMac = ports.sealer.requestMac(attributes.eventId, body);
  const event = { ...attributes, collectedAt: valid.collectedAt, requestMac };
  const assign = (): Assignment | RejectedRequest => assignPurpose(valid, ports.purposes);
  const outcome = await append(event, admitted.assigned, valid.exact, { ...ports, assign });
  if (outcome instanceof RejectedRequest) return outcome;
  if (!("stored" in outcome)) return await resolve(outcome);

  for (const warning of warningsOf(outcome.stored, admitted.sessionMismatch)) {
    ports.audit.record({ operation: "event.create", outcome: warning, account, eventId: attributes.eventId });
    ports.meter.warned(warning);
  }
  ports.drift.observe(attributes, valid.probes, text.members);
  ports.outcomes.observe(attributes, valid.probes, text.members);
  return answerCreated(attributes.eventId);
}

/**
 * Parses and validates a body if neither the scanner nor `readScan` could tell that it is valid. Returns a rejection
 * with the reason if the body is invalid.
 */
async function readSlowly(
  body: Buffer,
  text: TextScan,
  adopted: AdoptedFields,
  progress: RequestProgress,
): Promise<ValidRequest | RejectedRequest> {
  const parsed = await parseTextInTurns(body, text);
  if (parsed instanceof RejectedRequest) return parsed;
  const statedVersion = (parsed as Partial<TransportRequest> | null)?.sdk_version;
  if (typeof statedVersion === "string") progress.sdkVersion = statedVersion;
  return validate(parsed, body, adopted);
}

/** Charges the account for the cost of a request beyond 1. The throttle took this 1 before the request was read. */
function chargeRequest(
  account: string,
  additionalCost: number,
  progress: RequestProgress,
  { throttle }: IngestPorts,
): RejectedRequest | undefined {
  return additionalCost > 0 ? answerRateDecision(throttle.charge(account, additionalCost), progress) : undefined;
}

function answerRateDecision(
  { isAllowed, headers, retryAfterSeconds }: RateDecision,
  progress: RequestProgress,
): RejectedRequest | undefined {
  progress.headers = headers;
  return isAllowed ? undefined : rejectRequest("too-many-requests", { "Retry-After": String(retryAfterSeconds) });
}

function warningsOf({ purpose, beyondPurpose }: Assignment, sessionMismatch: boolean): EventWarning[] {
  const warnings: EventWarning[] = [];
  if (sessionMismatch) warnings.push("session-mismatch");
  if (beyondPurpose) warnings.push("beyond-purpose");
  if (!purpose.mapped) warnings.push("unmapped");
  return warnings;
}
