export type { FetchFunction, FetchInit, FetchResponse } from "./fetch-function.ts";
export type { ClientOptions, TokenFunction } from "./client-options.ts";
export type { RandomBytes } from "./idempotency-key.ts";
export type { HostAbortSignal } from "./host-globals.ts";
export {
  createOutbox,
  type Dropped,
  type DroppedReason,
  type FlushReport,
  type Outbox,
  type OutboxOptions,
  type OutboxResult,
} from "./outbox.ts";
export type { OutboxStorage } from "./outbox-storage.ts";
export type { Action, SignalRequest } from "./signal-request.ts";
export type { LaterReason, RefusedReason, RequestError, SendResult } from "./send-result.ts";
export { createSignalClient, type Sending, type SignalClient } from "./signal-client.ts";
