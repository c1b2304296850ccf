/** Ports of the ingest core. Adapters are passed in; the core depends on these ports only. */
import type { Instant, ProblemCode, Rejection } from "@device-risk-signals/contract";
import type { AdoptedFields } from "@device-risk-signals/contract/catalog/adopted";
import type { Departure } from "@device-risk-signals/contract/catalog/check";
import type { ProbeOutcomes } from "@device-risk-signals/contract/catalog/outcomes";
import type { OperatorErrorDetails } from "./errors/codes.ts";
import { hasCode, OperatorError } from "./errors/operator-error.ts";

/** Code of the purpose that every action type has until a policy is applied. */
export const BUILT_IN_PURPOSE = 1;

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** Measures spans of time: setting the system's clock does not change it. */
export interface MonotonicClock {
  /** Milliseconds since any moment; the value never decreases. */
  now(): number;
}

/** The sender of a request, from the verifier. */
export interface Session {
  /** 1 to 256 code points, without U+0000. */
  readonly account: string;
  /** When the session ends: milliseconds since the Unix epoch. Absent if it is not known. */
  readonly expiresAt?: number;
}

export interface SessionVerifier {
  /**
   * @param token the text after `Bearer `.
   * @param source where the request came from: an IPv4 address, or the /64 of an IPv6 address.
   * @returns the session, or `undefined` for an invalid token, without a reason.
   * @throws Unavailable if the verifier can't be reached; VerificationPending if it can tell only later.
   */
  verify(token: string, source?: string): Promise<Session | undefined>;
}

export interface RegisteredAction {
  readonly actionType: string;
  /** The session value that the action was issued with. */
  readonly sessionId?: string;
  /** When the action expires: milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/**
 * Why a registry has no action for the account: it has expired or was revoked, or it was issued to another account. The
 * client does not learn it.
 */
export type ActionRefusal = "expired" | "other-account";

export interface ActionRegistry {
  /**
   * @param sessionId the event's session value; for registries that keep a digest only.
   * @returns the action; or why the account has none, where the registry knows; or `undefined` for an unknown action.
   * @throws Unavailable if the registry can't be reached.
   */
  find(account: string, actionId: string, sessionId: string): Promise<RegisteredAction | ActionRefusal | undefined>;
}

/**
 * Why a request was rejected, where several reasons share one problem and the client must not learn which. For
 * `action-refused`: the action is `unknown`, `expired` (or revoked), of `other-account` or of `other-type`. For
 * `credentials-invalid`: the header is `too-long`.
 */
export type RejectionCause = "unknown" | "other-type" | "too-long" | ActionRefusal;

/** The purpose that an event is kept for. */
export interface AssignedPurpose {
  readonly code: number;
  /** The version of the policy that assigns the purpose; 0 if no policy was applied yet. */
  readonly policyVersion: number;
  /** Whether the policy maps the action type. If it is false, the event has the purpose of unmapped action types. */
  readonly mapped: boolean;
  /**
   * JSON Pointers to the parts of an event's probes that the purpose does not cover, found one at a time; absent when it
   * covers everything.
   */
  readonly coverage?: (probes: EventProbes) => Iterable<string>;
  readonly beyond?: "record" | "refuse";
}

/** What the core must know of an account before it seals an event. */
export interface Accounts {
  /** Whether later events of the account are rejected, because its erasure also ordered this. */
  isRefused(account: string): boolean;
  /**
   * Whether events of the account were stored under the purpose and have not been erased since then.
   * @throws Unavailable
   */
  isKnown(account: string, purpose: number): boolean | Promise<boolean>;
}

export interface Purposes {
  /** `undefined` when events of this action type are rejected. */
  find(actionType: string): AssignedPurpose | undefined;
}

/** Whether a field of a probe is covered or, without a field, whether the probe is. */
export type Covers = (probe: string, field?: string) => boolean;

/** The probes of a valid event. The functions answer questions about them, most of which need no parsed body. */
export interface EventProbes {
  readonly departures: () => readonly Departure[];
  readonly outcomes: () => ProbeOutcomes;
  /**
   * Whether the purpose certainly covers everything in the event. If it is false, only `parsed` shows what is covered.
   */
  readonly areCovered: (covers: Covers) => boolean;
  readonly parsed: () => Readonly<Record<string, unknown>>;
}

/** The identity of a stored event, its account included; it also binds the sealed payload to the event. */
export interface EventIdentity {
  readonly account: string;
  readonly eventId: string;
  readonly purpose: number;
  /** Milliseconds since the Unix epoch. */
  readonly receivedAt: number;
  readonly schemaVersion: number;
}

/** What a payload is sealed under: secrets of account and partition or, for a held copy, a secret of the hold. */
export type PayloadSecret = { readonly keyId: string } | { readonly holdId: string };

export interface PromotedAttributes extends EventIdentity {
  readonly idempotencyKey: string;
  readonly actionId: string;
  readonly actionType: string;
  readonly sessionId: string;
  readonly eventType: string;
  readonly sdkVersion: string;
  readonly platform: string;
  readonly appVersion: string;
}

export interface NewEvent extends PromotedAttributes {
  /**
   * The version of the policy that assigned the purpose. If another policy is active at the commit, the purpose must be
   * chosen again.
   */
  readonly policyVersion: number;
  readonly collectedAt: Instant;
  /** Keyed MAC of the request's bytes. */
  readonly requestMac: Buffer;
  readonly sealed: Sealed;
}

export interface Sealed {
  readonly payload: Buffer;
  readonly keyId: string;
  /** The key epoch in which the data key was chosen: in another key epoch the event must be sealed again. */
  readonly keyEpoch: KeyEpoch;
  /**
   * A number that increases when the server forgets its keys, for example because it lost a connection: what it knew
   * before may be of another database.
   */
  readonly generation: number;
}

/**
 * The time between two changes of keys. It consists of two numbers and not of their sum: a restored database may lack
 * an erasure and have a newer loss, so that the sum is the same.
 */
export interface KeyEpoch {
  /** The last erasure; 0 before the first. */
  readonly erasure: number;
  /** The last accepted loss of secrets; 0 before the first. */
  readonly loss: number;
}

export const isSameKeyEpoch = (one: KeyEpoch, other: KeyEpoch): boolean =>
  one.erasure === other.erasure && one.loss === other.loss;

/** The entry of the ledger for an idempotency key. */
export interface LedgerEntry {
  readonly eventId: string;
  readonly requestMac: Buffer;
  /** The purpose and time that select the partition of the event; absent when the event was erased. */
  readonly location?: { readonly purpose: number; readonly receivedAt: number };
}

export interface StoredEvent extends PromotedAttributes {
  /** A time such as `2026-01-31T08:15:00.123456Z`. */
  readonly collectedAt: string;
  readonly payload: Buffer;
  readonly sealedUnder: PayloadSecret;
}

/** The payload of a stored event, with the identity and the secret that open it. */
export type SealedEvent = EventIdentity & Pick<StoredEvent, "payload" | "sealedUnder">;

export interface EventStore {
  /** False while the store is known to be unreachable, so that a request can be rejected before its body is read. */
  readonly available: boolean;
  /**
   * Stores the event, once per account and idempotency key: durable when the promise resolves.
   * @returns `"stored"`; the ledger's entry if the key is in use; or `"stale"` if the event must be sealed again. The
   * reasons are a change of keys or of the policy, and a partition that did not exist.
   * @throws Unavailable when the database can't be reached or its disk is full.
   */
  append(event: NewEvent): Promise<"stored" | "stale" | LedgerEntry>;
  findKey(account: string, key: string): Promise<LedgerEntry | undefined>;
  /**
   * Finds the event of an idempotency key; `undefined` when it is deleted and only the key is left.
   * @throws Unavailable, also if comparisons of retries have read too many payloads.
   */
  findStored(account: string, idempotencyKey: string): Promise<StoredEvent | undefined>;
}

/** Seals the exact bytes of an event for storage, and opens them again. */
export interface Sealer {
  /** Keyed MAC of a request's bytes, for the ledger entry of this event; 16 bytes. */
  requestMac(eventId: string, bytes: Uint8Array): Buffer;
  /** @throws Unavailable if the key store can't be reached. */
  seal(identity: EventIdentity, bytes: Uint8Array): Promise<Sealed>;
  /** Seals under the account's existing key. @returns `undefined` if the account has no key. @throws Unavailable */
  sealUnderExistingKey(identity: EventIdentity, bytes: Uint8Array): Promise<Sealed | undefined>;
  /** Seals a copy that a hold keeps. @throws Unavailable */
  sealCopy(identity: EventIdentity, holdId: string, bytes: Uint8Array): Promise<Buffer>;
  /** @throws keys-destroyed; payload-damaged if the bytes are not what was sealed for this identity; Unavailable */
  open(identity: EventIdentity, under: PayloadSecret, payload: Buffer): Promise<Buffer>;
  /**
   * Opens many payloads, and reads each secret once.
   * @returns `undefined` for a payload whose secrets were destroyed or lost, or that was damaged. @throws Unavailable
   */
  openMany(events: readonly SealedEvent[]): Promise<readonly (Buffer | undefined)[]>;
}

/** Event warnings: notes for an operator about an event that is stored all the same. */
export type EventWarning = "session-mismatch" | "beyond-purpose" | "unmapped";

/** Entries are buffered and written in batches; repeated ones are counted in one entry. Never blocks, never throws. */
export interface AuditLog {
  record(entry: IngestAudit): void;
}

export interface IngestAudit {
  readonly operation: "event.create";
  readonly outcome: "replayed" | EventWarning | ProblemCode;
  readonly cause?: RejectionCause;
  readonly account?: string;
  readonly eventId?: string;
  /** Source address, for requests without an authenticated account. */
  readonly peer?: string;
}

export type ScanResult = "accepted" | "unsure" | "failed";

/** Receives the figures for monitoring. Never throws. */
export interface Meter {
  answered(status: number, code: string, seconds: number): void;
  /** An event was stored with this warning. */
  warned(warning: EventWarning): void;
  /** The scanner accepted a body, left it to the slow path, or failed. */
  scanned(result: ScanResult): void;
}

/**
 * The fields that features read. In these fields an event must match the published schema. The set may change while the
 * server runs.
 */
export interface AdoptedFieldSet {
  readonly current: AdoptedFields;
}

/** Counts the departures of stored events from the catalog. Never blocks, never throws. */
export interface DriftLog {
  /**
   * @param members number of members of the request at all depths. If there are very many, the departures are not
   * searched, and the event is counted as `not-walked`.
   */
  observe(
    sender: Pick<PromotedAttributes, "platform" | "sdkVersion">,
    probes: Pick<EventProbes, "departures" | "parsed">,
    members: number,
  ): void;
}

/** The attributes of a stored event by which the outcomes of its probes are grouped and counted. */
export type CountedEvent = Pick<PromotedAttributes, "receivedAt" | "platform" | "sdkVersion">;

/** Counts the outcomes of the probes of stored events. Never blocks, never throws. */
export interface OutcomeLog {
  /**
   * @param members number of members of the request at all depths. If there are very many, unknown probes are not
   * counted.
   */
  observe(event: CountedEvent, probes: Pick<EventProbes, "outcomes">, members: number): void;
}

/** Rejected requests, counted. Never blocks, never throws. */
export interface RejectionLog {
  /** @param sdkVersion the SDK version in the request; absent if the request was not read. */
  count(rejection: Rejection, sdkVersion: string | undefined, cause?: RejectionCause): void;
}

/** A rejected request, as the stages know it. The log keeps no value of it. */
export interface RejectedRequestDetail {
  readonly rejection: Rejection;
  readonly cause: RejectionCause | undefined;
  /** The SDK version in the request; absent if the request was not read. */
  readonly sdkVersion: string | undefined;
  /** Absent before authentication, and if the account or the event is erased. */
  readonly account: string | undefined;
  readonly peer: string;
}

/** The latest rejected requests, for a day. Never blocks, never throws. */
export interface RecentRejectionLog {
  add(rejected: RejectedRequestDetail): void;
}

/** What a host learns of a rejected request: no value that a client sent. */
export interface RejectedEvent {
  readonly status: number;
  /** The problem, as in the answer. */
  readonly code: ProblemCode;
  readonly cause?: RejectionCause;
  /** The authenticated account; absent before authentication. */
  readonly account?: string;
}

export type OnRejected = (rejected: RejectedEvent) => void;

/** The keys of an event were destroyed or lost: its payload can't be opened. */
export const areKeysDestroyed = (error: unknown): error is OperatorError<"keys-destroyed"> =>
  hasCode(error, "keys-destroyed");

export type UnavailableCode =
  | "dependency-unavailable"
  | "dependency-silent"
  | "dependency-unusable"
  | "partition-missing"
  | "secret-missing"
  | "feature-not-started";

type UnavailableOptions = ErrorOptions &
  (
    | { readonly code?: Exclude<UnavailableCode, "dependency-unusable">; readonly detail?: undefined }
    | { readonly code: "dependency-unusable"; readonly detail: OperatorErrorDetails["dependency-unusable"] }
  );

/** A dependency can't be used now: a request gets 503, and may be repeated. */
export class Unavailable extends OperatorError<UnavailableCode> {
  override readonly name = "Unavailable";

  constructor(message: string, { code = "dependency-unavailable", ...options }: UnavailableOptions = {}) {
    super(code, message, options);
  }
}

/** A session verifier does not look a new key up yet: the request gets 503, and may be repeated after the time. */
export class VerificationPending extends Unavailable {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super("the key of a session token is not looked up yet");
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Whether no partition may be made for the time of an event, because a clock jumped. */
export const isPartitionMissing = (error: unknown): error is Unavailable => hasCode(error, "partition-missing");

/**
 * Called with an error that the server does not expect.
 * @param operation what failed, such as `commit batch`: the same text each time.
 */
export type OnError = (error: unknown, operation: string) => void;
