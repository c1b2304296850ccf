import {
  type Accounts,
  type ActionRegistry,
  type AdoptedFieldSet,
  type AuditLog,
  type Clock,
  type DriftLog,
  type EventStore,
  type LedgerEntry,
  type Meter,
  type PromotedAttributes,
  type Purposes,
  type Remark,
  type Sealer,
  type SessionVerifier,
  Unavailable,
} from "../ports.ts";
import { type Admission } from "./admission.ts";
import { admit, type AdmitOptions, assignPurpose, type Assignment } from "./admit.ts";
import { append } from "./append.ts";
import { authenticate } from "./authenticate.ts";
import { costOf, costOfComparison } from "./cost.ts";
import { readHeaders } from "./headers.ts";
import { locateObservations } from "./locate-observations.ts";
import { parseTextInTurns } from "./parse-text.ts";
import { readBody } from "./read-body.ts";
import { scanText } from "./scan-text.ts";
import { answerCreated, type Retry, settle } from "./resolve-duplicate.ts";
import { type Answer, answerRefusal, type AnswerHeaders, type IngestRequest, Refusal, refuse } from "./request.ts";
import type { FailureThrottle, RateThrottle, Turn } from "./throttle.ts";
import { uuidv7 } from "../identifiers/uuidv7.ts";
import { validate } from "./validate.ts";

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
  readonly meter: Meter;
  readonly clock: Clock;
  readonly admission: Admission;
  readonly throttle: RateThrottle;
  readonly failures: FailureThrottle;
  /** Called with what should not happen. The endpoint answers 500 or 503 and goes on. */
  readonly onFault: (fault: unknown) => void;
}

export interface IngestOptions extends AdmitOptions {
  readonly maxBodyBytes: number;
}

/** Takes a request for the events resource, returns its answer. Never rejects. */
export type Ingest = (request: IngestRequest) => Promise<Answer>;

export function createIngest(ports: IngestPorts, options: IngestOptions): Ingest {
  return async (request) => {
    const started = performance.now();
    const progress: Progress = { headers: {} };
    const result = await run(request, progress, ports, options).catch((fault: unknown) => {
      ports.onFault(fault);
      return fault instanceof Unavailable ? refuse("unavailable", RETRY_SOON) : refuse("storage-failed");
    });
    const answer = result instanceof Refusal ? answerRefusal(result) : result;
    const code = result instanceof Refusal ? result.rejection.code : answer.status === 201 ? "created" : "replayed";
    if (result instanceof Refusal) {
      const { account } = progress;
      const who = account !== undefined && code !== "account-erased" ? { account } : { peer: request.peer };
      ports.audit.record({ operation: "event.create", outcome: result.rejection.code, ...who });
    }
    ports.meter.answered(answer.status, code, (performance.now() - started) / 1000);
    return { ...answer, headers: { ...answer.headers, ...progress.headers } };
  };
}

const RETRY_SOON: AnswerHeaders = { "Retry-After": "1" };

/** What is known of a request even where a later stage refuses it. */
interface Progress {
  /** For the audit; absent before authentication, and for a retry of what was erased. */
  account?: string;
  headers: AnswerHeaders;
}

/** The path of an event, from its bytes to the answer. */
async function run(
  request: IngestRequest,
  progress: Progress,
  ports: IngestPorts,
  options: IngestOptions,
): Promise<Answer | Refusal> {
  // guard(false): POST is the only method
  // fails: e2e/rejections/rejections.test.ts › PUT is not allowed
  if (request.method !== "POST") return refuse("method-not-allowed", { Allow: "POST" });

  const session = await authenticate(request, ports.sessions, ports.failures);
  if (session instanceof Refusal) return session;
  const { account } = session;
  progress.account = account;

  const tooMany = answerTurn(ports.throttle.take(account), progress);
  if (tooMany) return tooMany;

  const header = readHeaders(request.headers);
  if (header instanceof Refusal) return header;

  if (!ports.store.available) return refuse("unavailable", RETRY_SOON);
  const place = ports.admission.enter(account, request.headers, header.encoding, options.maxBodyBytes);
  if (place instanceof Refusal) return place;
  try {
    const body = await readBody(request.body, header.encoding, options.maxBodyBytes);
    if (body instanceof Refusal) {
      if (body.rejection.code === "body-too-large")
        charge(account, costOf(options.maxBodyBytes, 0) - 1, progress, ports);
      return body;
    }
    const scan = scanText(body);
    const cost = costOf(body.length, scan.members, scan.escapes);
    const tooCostly = charge(account, cost - 1, progress, ports);
    if (tooCostly) return tooCostly;

    const parsed = await parseTextInTurns(body, scan);
    if (parsed instanceof Refusal) return parsed;

    const valid = validate(parsed, ports.adopted.current);
    if (valid instanceof Refusal) return valid;

    const chargeComparison = (): Refusal | undefined => charge(account, costOfComparison(cost), progress, ports);
    const retry: Retry = { account, body, request: valid.request, chargeComparison };
    const resolve = (entry: LedgerEntry): Promise<Answer | Refusal> => {
      if (!entry.place) delete progress.account;
      return settle(retry, entry, ports);
    };
    const receivedAt = ports.clock.now();

    const admitted = await admit(account, valid, receivedAt, ports, options);
    if (admitted instanceof Refusal) {
      const entry = await ports.store.findKey(account, header.idempotencyKey);
      // guard(false): a replay gets its answer, whatever else is wrong
      // fails: e2e/exactly-once.test.ts › a replay gets its answer although
      return entry ? await resolve(entry) : admitted;
    }

    const { observations } = valid.request;
    const attributes: Omit<PromotedAttributes, "purpose"> = {
      account,
      eventId: uuidv7(receivedAt),
      receivedAt,
      idempotencyKey: header.idempotencyKey,
      schemaVersion: observations.schema_version,
      actionId: valid.request.action_id,
      actionType: valid.request.action_type,
      sessionId: observations.session_id,
      eventType: observations.event_type,
      sdkVersion: valid.request.sdk_version,
      platform: valid.request.platform,
      appVersion: valid.request.app_version ?? "",
    };
    const exact = locateObservations(body);
    const requestMac = ports.sealer.requestMac(attributes.eventId, body);
    const event = { ...attributes, collectedAt: valid.collectedAt, requestMac };
    const assign = (): Assignment | Refusal => assignPurpose(valid, ports.purposes);
    const outcome = await append(event, admitted.assigned, exact, { ...ports, assign });
    if (outcome instanceof Refusal) return outcome;
    if (!("stored" in outcome)) return await resolve(outcome);

    for (const remark of remarksOn(outcome.stored, admitted.sessionMismatch)) {
      ports.audit.record({ operation: "event.create", outcome: remark, account, eventId: attributes.eventId });
      ports.meter.remarked(remark);
    }
    ports.drift.observe(attributes.sdkVersion, observations.probes, scan.members);
    return answerCreated(attributes.eventId);
  } finally {
    place.leave();
  }
}

/** Debits what a request costs beyond the 1 that was taken before it was read. */
function charge(account: string, more: number, progress: Progress, { throttle }: IngestPorts): Refusal | undefined {
  return more > 0 ? answerTurn(throttle.charge(account, more), progress) : undefined;
}

function answerTurn({ ok, headers, retryAfterSeconds }: Turn, progress: Progress): Refusal | undefined {
  progress.headers = headers;
  return ok ? undefined : refuse("too-many-requests", { "Retry-After": String(retryAfterSeconds) });
}

function remarksOn({ purpose, beyondPurpose }: Assignment, sessionMismatch: boolean): Remark[] {
  const remarks: Remark[] = [];
  if (sessionMismatch) remarks.push("session-mismatch");
  if (beyondPurpose) remarks.push("beyond-purpose");
  if (!purpose.mapped) remarks.push("unmapped");
  return remarks;
}
