export { canonicalHash, canonicalize, canonicalRequest } from "./canonical.ts";
export {
  type ErrorItem,
  ErrorList,
  VIOLATIONS,
  type ViolationCode,
  type Problem,
  type ProblemCode,
  problemOf,
  PROBLEMS,
  reject,
  type Rejection,
} from "./errors.ts";
export type * from "./generated/raw-signal-event.ts";
export { EVENT_TYPE, LIMITS, OUTCOME_STATUSES, PLATFORMS, SCHEMA_VERSION } from "./limits.ts";
export { pointerOf, pointerTo } from "./pointer.ts";
export { type Instant, parseDateTime } from "./timestamp.ts";
export { OUTCOME_ERRORS, type OutcomeError, SKIPPED_REASONS, type SkippedReason } from "./wire/outcome-words.ts";
export type { CreateResponse, TransportRequest } from "./wire/transport.ts";
export { validateTransportRequest, type Validation } from "./wire/validate.ts";
