export type { CollectedEvent } from "./collection.ts";
export type { Configuration, FieldSelection, ProbeConfiguration, ProbeReport } from "./configuration.ts";
export { type Consent, consentFor, type ConsentFunction } from "./consent.ts";
export { DeviceIntel } from "./device-intel.ts";
export type { CollectOptions, StopSignal } from "./device-intel-on-host.ts";
export type { ObservationWindow } from "./observation.ts";
export { AbortError, MisuseError, type Problem } from "./misuse.ts";
export { type FieldState, readField } from "./read-field.ts";
export type { Platform, ProbeId } from "@device-risk-signals/contract/catalog/fields";
export type {
  ErrorOutcome,
  OutcomeError as ErrorCode,
  ProbeDataById,
  ProbeOutcome,
  RawSignalEvent,
  SkippedOutcome,
  SkippedReason,
  SuccessOutcome,
  TimeoutOutcome,
} from "@device-risk-signals/contract";
