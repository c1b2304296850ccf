import type { Encoding } from "./headers.ts";
import { type RejectedRequest, rejectRequest, type RequestHeaders } from "./request.ts";

export interface Permit {
  release(): void;
}

/**
 * One account may hold this share of each limit, or the fixed amount if that is more, so that a hostile phone that
 * sends slowly does not block other accounts.
 */
const SHARE_PER_ACCOUNT = 1 / 4;
const REQUESTS_PER_ACCOUNT = 32;
const BYTES_PER_ACCOUNT = 8 * 1024 * 1024;

interface Held {
  requests: number;
  bytes: number;
}

/**
 * Bounds concurrent work: requests, and bytes of bodies that are or will be in memory. Called before a body is read, so
 * that an overloaded server rejects early instead of answering late.
 */
export class Admission {
  readonly #all: Held = { requests: 0, bytes: 0 };
  readonly #byAccount = new Map<string, Held>();
  #draining = false;
  readonly #drained = Promise.withResolvers<void>();
  readonly #max: Held;
  readonly #maxPerAccount: Held;

  /**
   * @param processes the number of processes of the server. Each has an equal part of the limits, because connections
   * are balanced over the processes.
   */
  constructor(requests: number, bytes: number, processes = 1) {
    const part = (limit: number): number => Math.ceil(limit / processes);
    this.#max = { requests: part(requests), bytes: part(bytes) };
    this.#maxPerAccount = {
      requests: part(Math.max(REQUESTS_PER_ACCOUNT, requests * SHARE_PER_ACCOUNT)),
      bytes: part(Math.max(BYTES_PER_ACCOUNT, bytes * SHARE_PER_ACCOUNT)),
    };
  }

  get requests(): number {
    return this.#all.requests;
  }

  get draining(): boolean {
    return this.#draining;
  }

  enter(account: string, headers: RequestHeaders, encoding: Encoding, maxBodyBytes: number): Permit | RejectedRequest {
    if (this.#draining) return rejectRequest("draining", { "Retry-After": "2" });
    const announced = Number(headers.all("content-length")[0] ?? Number.NaN);
    const bytes = encoding === "identity" && announced <= maxBodyBytes ? announced : maxBodyBytes;
    if (exceeds(this.#all, bytes, this.#max)) return rejectRequest("overloaded", { "Retry-After": "1" });
    const own = this.#byAccount.get(account) ?? { requests: 0, bytes: 0 };
    if (exceeds(own, bytes, this.#maxPerAccount)) return rejectRequest("too-many-requests", { "Retry-After": "1" });

    this.#byAccount.set(account, own);
    for (const held of [this.#all, own]) {
      held.requests++;
      held.bytes += bytes;
    }
    return { release: () => this.#leave(account, own, bytes) };
  }

  #leave(account: string, own: Held, bytes: number): void {
    for (const held of [this.#all, own]) {
      held.requests--;
      held.bytes -= bytes;
    }
    if (own.requests === 0) this.#byAccount.delete(account);
    if (this.#draining && this.#all.requests === 0) this.#drained.resolve();
  }

  /** Rejects new requests from now on; resolves when the last accepted one has its answer. */
  drain(): Promise<void> {
    this.#draining = true;
    if (this.#all.requests === 0) this.#drained.resolve();
    return this.#drained.promise;
  }
}

/** The first request always fits, however large its body and however small the limits. */
function exceeds(held: Held, bytes: number, max: Held): boolean {
  return held.requests > 0 && (held.requests >= max.requests || held.bytes + bytes > max.bytes);
}
