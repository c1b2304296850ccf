/** This limit is exported separately, so that an app's bundle can contain it without `LIMITS`. */
export const MAX_SESSION_ID_LENGTH = 128;

/** The limits of the contract. Lengths count Unicode code points. */
export const LIMITS = {
  /** Decompressed request body, bytes; a server may be configured otherwise. */
  bodyBytes: 262_144,
  /** Nesting of objects and arrays; the transport object is level 1. */
  nesting: 64,
  actionId: 128,
  actionType: 64,
  sdkVersion: 32,
  appVersion: 64,
  sessionId: MAX_SESSION_ID_LENGTH,
  idempotencyKey: 128,
} as const;

export const EVENT_TYPE = "device_intel_collection";
export const SCHEMA_VERSION = 1;
export const PLATFORMS = ["android", "ios"] as const;
export const OUTCOME_STATUSES = ["success", "skipped", "timeout", "error"] as const;
