import {
  type ClientOptions,
  createSignalClient,
  type FetchInit,
  type FetchResponse,
  type SignalClient,
} from "./index.ts";
import type { RawSignalEvent } from "@device-risk-signals/contract";

export const ACTION = { id: "action-1", type: "payment" };
export const TOKEN = "secret-token-123";

export function event(collectedAt: string = new Date().toISOString()): RawSignalEvent {
  return {
    session_id: "session-1",
    event_type: "device_intel_collection",
    schema_version: 1,
    collected_at: collectedAt,
    probes: { fonts: { status: "success", data: { fontsDigest: "observation-é😀" } } },
  };
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export const stored: Reply = { status: 201, body: { event_id: "e-1", created: true } };
export const replayed: Reply = { status: 200, body: { event_id: "e-1", created: false } };
export const problem = (status: number, code: string, headers: Record<string, string> = {}): Reply => ({
  status,
  headers,
  body: { type: `urn:problem:device-risk-signals:${code}`, title: "T", status, detail: "d", errors: [] },
});

export const response = ({ status, headers = {}, body = "" }: Reply): FetchResponse => ({
  status,
  headers: new Headers(headers),
  text: async () => (typeof body === "string" ? body : JSON.stringify(body)),
});

export type Answering = (init: FetchInit, url: string) => Promise<FetchResponse>;
export const failure: Answering = () => Promise.reject(new TypeError(`fetch failed, Bearer ${TOKEN}`));
export const silence: Answering = () => new Promise(() => {});

/**
 * Makes a client whose `fetch` gives the answers of a list, and then repeats the last answer. Returns the client and
 * the requests that `fetch` received.
 */
export function clientWith(
  answers: readonly (Reply | Answering)[],
  options: Partial<ClientOptions> = {},
): { client: SignalClient; requests: { url: string; init: FetchInit }[] } {
  const requests: { url: string; init: FetchInit }[] = [];
  const client = createSignalClient({
    baseUrl: "https://api.example",
    fetch: async (url, init) => {
      const answer = answers[Math.min(requests.length, answers.length - 1)] as Reply | Answering;
      requests.push({ url, init });
      return typeof answer === "function" ? answer(init, url) : response(answer);
    },
    token: async () => TOKEN,
    sdkVersion: "1.2.3",
    platform: "android",
    appVersion: "7.1.0",
    ...options,
  });
  return { client, requests };
}
