/** The type `AbortSignal` of the platform, if it has one, so that the platform's `fetch` is a `FetchFunction`. */
type PlatformSignal = typeof globalThis extends { AbortSignal: { prototype: infer Signal } } ? Signal : never;

export interface FetchInit {
  readonly method: "POST";
  readonly headers: Record<string, string>;
  readonly body: string;
  /** A redirect would send the event to another address. If `fetch` has this option, the client follows no redirect. */
  readonly redirect: "manual";
  /** `undefined` where the platform has no `AbortController`. */
  readonly signal?: PlatformSignal;
}

export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

/**
 * The part of `fetch` that the client uses. The `fetch` of browsers, React Native and Node fits, and so may a function
 * of the host.
 */
export type FetchFunction = (url: string, init: FetchInit) => Promise<FetchResponse>;
