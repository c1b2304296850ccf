import type { CollectedEvent, ErrorCode, ProbeId, SkippedReason } from "@device-risk-signals/react-native";
import type { Tone } from "./theme";

type Outcome = CollectedEvent["probes"][ProbeId];

export interface OutcomeWords {
  readonly tone: Tone;
  /** A short text with the reason: `skipped · consent`. */
  readonly badge: string;
  readonly meaning: string;
}

const SKIPPED: Readonly<Record<SkippedReason, string>> = {
  disabled: "Off in the configuration.",
  platform: "This probe does not exist on this platform.",
  consent: "No consent: nothing was read.",
  unsupported: "This version of the system, or this hardware, does not support it.",
  permission: "The app lacks the permission, and the SDK never requests one.",
};

const FAILED: Readonly<Record<ErrorCode, string>> = {
  "native-missing": "The app was built without the native half, as Expo Go is.",
  "native-failed": "Native code failed; its message is never sent.",
  "required-field-missing": "A field that the contract requires could not be read.",
  "too-large": "The values are larger than an event may hold.",
};

/** The outcome of a probe in words. */
export function outcomeWords(outcome: Outcome): OutcomeWords {
  switch (outcome.status) {
    case "success":
      return { tone: "good", badge: "success", meaning: "Read. What could not be read is omitted." };
    case "skipped":
      return {
        tone: "neutral",
        badge: `skipped · ${outcome.reason}`,
        meaning: SKIPPED[outcome.reason as SkippedReason],
      };
    case "timeout":
      return { tone: "late", badge: "timeout", meaning: "The probe reached its time limit; its values are dropped." };
    case "error":
      return { tone: "bad", badge: `error · ${outcome.error}`, meaning: FAILED[outcome.error as ErrorCode] };
  }
}

/** How many probes had each outcome: `1 success · 18 skipped`. An outcome that no probe had is left out. */
export function summaryOf(event: CollectedEvent): string {
  const outcomes = Object.values(event.probes);
  return (["success", "skipped", "timeout", "error"] as const)
    .map((status) => [outcomes.filter((outcome) => outcome.status === status).length, status] as const)
    .filter(([count]) => count > 0)
    .map(([count, status]) => `${count} ${status}`)
    .join(" · ");
}
