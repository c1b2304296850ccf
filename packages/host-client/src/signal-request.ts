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

/** A transport request that can be sent any number of times. It is plain data, which a host can store as JSON. */
export interface SignalRequest {
  readonly key: string;
  readonly action: Action;
  /** When the event expires: `freshnessMs` after `collected_at`, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** The body as JSON text: the same on each attempt. */
  readonly body: string;
}

/** Whether the request has expired by the device's clock. */
export const isExpired = ({ expiresAt }: SignalRequest): boolean => Date.now() >= expiresAt;

/**
 * Requests by event object. All clients share this map, so a second client sends the same request and the event is
 * stored once.
 */
const requests = new WeakMap<object, SignalRequest>();

/**
 * Makes the request of an event at the first call with its object. Later calls return the same request, with the same
 * key and bytes, even if the object has changed in the meantime.
 *
 * @throws TypeError naming every problem of action and event; also if the event was prepared for another action
 */
export function prepareRequest(settings: ClientSettings, action: Action, event: RawSignalEvent): SignalRequest {
  const collectedAt = epochMs((event as RawSignalEvent | undefined)?.collected_at);
  throwMisuse("send", [
    textProblem("action.id", action?.id, 128),
    textProblem("action.type", action?.type, 64),
    Number.isNaN(collectedAt) && "event must be a raw event with collected_at",
  ]);
  const earlier = requests.get(event);
  if (earlier) {
    const isSame = earlier.action.id === action.id && earlier.action.type === action.type;
    throwMisuse("send", [!isSame && "event was prepared for another action"]);
    return earlier;
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

/**
 * Cuts the fraction of a second after three digits, because ECMAScript does not guarantee that `Date.parse` reads more.
 */
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
    // The event has a number that JSON can't represent, a cycle or a BigInt. The platform's error may quote the event,
    // so it is dropped.
  }
  throwMisuse("send", [!body && "event can't be written as JSON"]);
  return body as string;
}
