/** The part of the host's `AbortSignal` that this package uses; the signal of any platform fits. */
export interface HostAbortSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

interface HostGlobals {
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
  readonly AbortController?: new () => { readonly signal: unknown; abort(): void };
  readonly crypto?: { getRandomValues?(bytes: Uint8Array): Uint8Array };
}

/** Every global that the package uses in addition to the language itself. Hermes has no `crypto`. */
export const host = globalThis as unknown as HostGlobals;
