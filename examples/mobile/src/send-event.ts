import { createSignalClient, type FetchFunction, type SendResult } from "@device-risk-signals/host-client";
import type { CollectedEvent } from "@device-risk-signals/react-native";
import sdk from "@device-risk-signals/react-native/package.json";
import { getRandomBytes } from "expo-crypto";
import app from "../app.json";
import { phonePlatform } from "./probes";
import type { Tone } from "./theme";

/** Where an event is sent, with which token and for which action. `npm start` in the root prints these values. */
export interface Endpoint {
  readonly baseUrl: string;
  readonly token: string;
  readonly actionId: string;
  readonly actionType: string;
  /** The action's session value, which the app passes to `collect`. */
  readonly session: string;
}

/**
 * Sends an event, without a retry. A second call with the same event object sends the same request, so the endpoint
 * stores the event once.
 * @throws TypeError that names every problem of the input.
 */
export async function sendEvent(event: CollectedEvent, endpoint: Endpoint, fetch: FetchFunction): Promise<SendResult> {
  const client = createSignalClient({
    baseUrl: endpoint.baseUrl,
    fetch,
    // This app can't refresh the token. If the server rejects it, the result says so.
    token: () => Promise.resolve(endpoint.token),
    sdkVersion: sdk.version,
    platform: phonePlatform(),
    appVersion: app.expo.version,
    randomBytes: getRandomBytes,
    // The user sees the result and can try again. An app without a user at this moment omits this setting.
    maxAttempts: 1,
  });
  return await client.send({ action: { id: endpoint.actionId, type: endpoint.actionType }, event });
}

export interface ResultWords {
  readonly tone: Tone;
  readonly badge: string;
  readonly lines: readonly string[];
}

/** The result of the sending in words. */
export function resultWords(result: SendResult): ResultWords {
  switch (result.outcome) {
    case "stored":
      return { tone: "good", badge: "stored", lines: [`Event ${result.eventId} is stored now.`] };
    case "replayed":
      return {
        tone: "good",
        badge: "replayed",
        lines: [`Event ${result.eventId} was stored before. Nothing changed.`],
      };
    case "refused":
      return {
        tone: "bad",
        badge: `refused · ${result.reason}`,
        lines: [answerOf(result), ...result.errors.map(({ pointer, code }) => `${pointer || "/"}: ${code}`)],
      };
    case "later":
      return {
        tone: "late",
        badge: `try later · ${result.reason}`,
        lines: [
          answerOf(result),
          result.retryAfterMs === undefined
            ? "Send the same event again: it is stored once."
            : `Send the same event again in ${Math.ceil(result.retryAfterMs / 1_000)} s: it is stored once.`,
        ],
      };
  }
}

function answerOf({
  status,
  code,
}: {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
}): string {
  if (status === undefined) return "There was no answer.";
  return code === undefined ? `The answer was ${status}.` : `The answer was ${status}, ${code}.`;
}
