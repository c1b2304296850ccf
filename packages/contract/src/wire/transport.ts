import type { RawSignalEvent } from "../generated/raw-signal-event.ts";

/** The body of `POST /api/v1/device-signal-events`: the raw event, with members that the host adds. */
export interface TransportRequest {
  /** The id of the action for which the event was collected, 1 to 128 code points. The server issued the id. */
  readonly action_id: string;
  /** The action's type, 1 to 64 code points. The host defines the vocabulary. */
  readonly action_type: string;
  /** The SDK's version, 1 to 32 code points. */
  readonly sdk_version: string;
  readonly platform: "android" | "ios";
  /** The app's version, at most 64 code points; absent means empty. */
  readonly app_version?: string;
  readonly observations: RawSignalEvent;
}

/** The answer if the event is stored (201), and to a replay (200). */
export interface CreateResponse {
  readonly event_id: string;
  /** True for a new event, false for a replay. */
  readonly created: boolean;
}
