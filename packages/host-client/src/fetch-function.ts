/** The type `AbortSignal` of the platform, if it has one. With it, the type of the platform's `fetch` fits. */
type PlatformSignal = typeof globalThis extends { AbortSignal: { prototype: infer Signal } } ? Signal : never;

export interface FetchInit {
  readonly method: "POST";
  readonly headers: Record<string, string>;
  readonly body: string;
  /** A redirect would send the event to another address. The client follows no redirect if `fetch` has that option. */
  readonly redirect: "manual";
  /** `undefined` where the platform has no `AbortController`. */
  readonly signal?: PlatformSignal;
}

export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

/** What the client uses of `fetch`: the `fetch` of a browser, React Native or Node, or a function of the host. */
export type FetchFunction = (url: string, init: FetchInit) => Promise<FetchResponse>;
