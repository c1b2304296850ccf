import type { RawSignalEvent } from "@device-risk-signals/contract";
import { type ClientOptions, readClientOptions } from "./client-options.ts";
import { deliver } from "./deliver.ts";
import type { HostAbortSignal } from "./host-globals.ts";
import type { SendResult } from "./send-result.ts";
import { type Action, prepareRequest, type SignalRequest } from "./signal-request.ts";

export interface Sending {
  readonly action: Action;
  /** The event as `collect` returned it. */
  readonly event: RawSignalEvent;
  /** A signal that ends requests and pauses. The result then has the outcome `later` and the reason `aborted`. */
  readonly signal?: HostAbortSignal | undefined;
}

export interface SignalClient {
  /**
   * Sends the event until it is stored or rejected, or another attempt makes no sense for now. A further call with the
   * same event object sends the same idempotency key and the same bytes, so several calls store the event once.
   *
   * The promise is rejected only for misuse, with a `TypeError`; every external failure is a result.
   */
  send(sending: Sending): Promise<SendResult>;
  /**
   * The first half of `send`, for a host that keeps requests by itself. Calls with the same event object return the
   * same request.
   */
  prepare(sending: Pick<Sending, "action" | "event">): SignalRequest;
  /** The second half of `send`: sends a request that `prepare` returned. */
  deliver(request: SignalRequest, options?: { readonly signal?: HostAbortSignal | undefined }): Promise<SendResult>;
}

/** @throws TypeError naming every problem of the options. */
export function createSignalClient(options: ClientOptions): SignalClient {
  const settings = readClientOptions(options);
  return {
    async send({ action, event, signal }) {
      return deliver(settings, prepareRequest(settings, action, event), signal);
    },
    prepare: ({ action, event }) => prepareRequest(settings, action, event),
    deliver: (request, { signal } = {}) => deliver(settings, request, signal),
  };
}
