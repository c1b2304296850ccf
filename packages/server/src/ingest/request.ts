import {
  type Problem,
  type ProblemCode,
  problemOf,
  PROBLEMS,
  reject,
  type Rejection,
} from "@device-risk-signals/contract";
import type { RejectionCause } from "../base/ports.ts";

export const EVENTS_PATH = "/api/v1/device-signal-events";

/** A request, independent of a framework. Each edge makes it from the request of its framework. */
export interface IngestRequest {
  readonly method: string;
  readonly headers: RequestHeaders;
  readonly body: ByteStream;
  /** The source address, for the throttle of failed authentications. */
  readonly peer: string;
}

export interface RequestHeaders {
  /**
   * Every value of the header, in order, one per header line. A host of the Fetch standard has joined the lines to one
   * value. Empty if the request has no such header.
   */
  all(name: LowercaseHeader): readonly string[];
}

export type LowercaseHeader =
  | "authorization"
  | "idempotency-key"
  | "content-type"
  | "content-encoding"
  | "content-length"
  | "transfer-encoding"
  | "traceparent"
  | "tracestate";

export interface ByteStream {
  /**
   * Whether no other code reads the body, so that the receiver may keep the memory of a chunk and free it. In an
   * embedding host, a listener of the host may read it, too.
   */
  readonly isUnshared?: boolean;
  /** Whether the host passes another stream than the connection's, which may have decompressed the body. */
  readonly isReplaced?: boolean;
  /**
   * Passes each chunk to `take`, until `take` returns false or the body ends. May be called only once.
   * @returns `"end"` if the whole body arrived, `"stopped"` after `take` returned false, `"broken"` if the client
   * disconnected or the host could not decompress the body.
   * @throws HostMisuse if other code of the host has read the body, or changes how it is read.
   */
  forEach(take: (chunk: Uint8Array) => boolean): Promise<"end" | "stopped" | "broken">;
}

/** An answer, independent of a framework. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type AnswerHeaders = Readonly<Record<string, string>>;

/** A stage returns this instead of its result when it rejects the request. */
export class RejectedRequest {
  readonly rejection: Rejection;
  readonly headers: AnswerHeaders;
  /** For the operator; never for the client. */
  readonly cause: RejectionCause | undefined;

  constructor(rejection: Rejection, headers: AnswerHeaders = {}, cause?: RejectionCause) {
    this.rejection = rejection;
    this.headers = headers;
    this.cause = cause;
  }
}

export function rejectRequest(code: ProblemCode, headers: AnswerHeaders = {}, cause?: RejectionCause): RejectedRequest {
  return new RejectedRequest(reject(code), headers, cause);
}

/** Converts a rejection to an HTTP answer. No other function does this. */
export function answerRejection({ rejection, headers }: RejectedRequest): Answer {
  return {
    status: PROBLEMS[rejection.code].status,
    headers: { "Content-Type": "application/problem+json", ...headers },
    body: JSON.stringify(problemOf(rejection) satisfies Problem),
  };
}
