import type { RawSignalEvent } from "@device-risk-signals/contract";
import type { ClientSettings } from "./client-options.ts";
import { makeIdempotencyKey } from "./idempotency-key.ts";
import { throwMisuse, textProblem } from "./misuse.ts";

/** The action that the host's backend registered before the collection: its identifier and its type. */
export interface Action {
  /** `action_id`, 1 to 128 characters. */
  readonly id: string;
  /** `action_type`, 1 to 64 characters. */
  readonly type: string;
}

/** A transport request, ready to be sent any number of times: plain data that survives `JSON.stringify`. */
export interface SignalRequest {
  readonly key: string;
  readonly action: Action;
  /** When the freshness after `collected_at` ends, in milliseconds since 1970 by the device's clock. */
  readonly expiresAt: number;
  /** The body as JSON text: the same on each attempt. */
  readonly body: string;
}

/** Whether the request has expired by the device's clock. */
export const isExpired = ({ expiresAt }: SignalRequest): boolean => Date.now() >= expiresAt;

/** Requests by event object. All clients share them, so a second client does not store an event twice. */
const requests = new WeakMap<object, SignalRequest>();

/**
 * The one request of an event. It is made at the first call for this event object; later calls return the same key and
 * the same bytes, even if the object has changed meanwhile.
 *
 * @throws TypeError naming every problem of action and event, and when the event was prepared for another action.
 */
export function prepareRequest(settings: ClientSettings, action: Action, event: RawSignalEvent): SignalRequest {
  const collectedAt = epochMs((event as RawSignalEvent | undefined)?.collected_at);
  throwMisuse("send", [
    textProblem("action.id", action?.id, 128),
    textProblem("action.type", action?.type, 64),
    Number.isNaN(collectedAt) && "event must be a raw event with collected_at",
  ]);
  const known = requests.get(event);
  if (known) {
    const isSame = known.action.id === action.id && known.action.type === action.type;
    throwMisuse("send", [!isSame && "event was prepared for another action"]);
    return known;
  }
  const request: SignalRequest = {
    body: write(settings, action, event),
    key: makeIdempotencyKey(settings.randomBytes),
    action: { id: action.id, type: action.type },
    expiresAt: collectedAt + settings.freshnessMs,
  };
  requests.set(event, request);
  return request;
}

/** Cuts the fraction of a second after three digits, because ECMAScript does not guarantee that more can be read. */
function epochMs(dateTime: unknown): number {
  return typeof dateTime === "string" ? Date.parse(dateTime.toUpperCase().replace(/(\.\d{3})\d+/, "$1")) : Number.NaN;
}

function write({ sdkVersion, platform, appVersion }: ClientSettings, action: Action, event: RawSignalEvent): string {
  const transport = {
    action_id: action.id,
    action_type: action.type,
    sdk_version: sdkVersion,
    platform,
    app_version: appVersion,
    observations: event,
  };
  let body: string | undefined;
  try {
    body = JSON.stringify(transport, (_, value: unknown) => {
      // JSON.stringify would write null for such a value, which is another observation.
      if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError();
      return value;
    });
  } catch {
    // The event has such a number, a cycle or a BigInt. The platform's message may quote the event, so it is dropped.
  }
  throwMisuse("send", [!body && "event can't be written as JSON"]);
  return body as string;
}
