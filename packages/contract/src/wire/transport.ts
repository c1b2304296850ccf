import type { RawSignalEvent } from "../generated/raw-signal-event.ts";

/** The body of `POST /api/v1/device-signal-events`: the raw event and what only the host knows. */
export interface TransportRequest {
  /** The server-issued action that the collection is bound to. 1 to 128 code points. */
  readonly action_id: string;
  /** The action's type, of a vocabulary that the host defines: 1 to 64 code points. */
  readonly action_type: string;
  /** The SDK's version, 1 to 32 code points. */
  readonly sdk_version: string;
  readonly platform: "android" | "ios";
  /** The app's version, at most 64 code points; absent means empty. */
  readonly app_version?: string;
  readonly observations: RawSignalEvent;
}

/** The answer to a stored event (201) and to a replay of it (200). */
export interface CreateResponse {
  readonly event_id: string;
  /** True for a new event, false for a replay. */
  readonly created: boolean;
}
