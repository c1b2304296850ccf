/**
 * The SDK's words for why a probe has no data. Other senders may send any text. Code that counts or compares reasons
 * treats all other texts as one reason.
 */

/** Why a probe was not run. If several reasons apply, the outcome has the first one in this order. */
export const SKIPPED_REASONS = ["disabled", "platform", "consent", "unsupported", "permission"] as const;
export type SkippedReason = (typeof SKIPPED_REASONS)[number];

/** Why a probe failed; never a native message. */
export const OUTCOME_ERRORS = ["native-missing", "native-failed", "required-field-missing", "too-large"] as const;
export type OutcomeError = (typeof OUTCOME_ERRORS)[number];
