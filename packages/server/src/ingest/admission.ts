import type { Encoding } from "./headers.ts";
import { type Refusal, refuse, type RequestHeaders } from "./request.ts";

export interface Place {
  leave(): void;
}

/**
 * Bounds what is in work: requests, and bytes of bodies that are or will be in memory. Asked before a body is read, so
 * that an overloaded server says so early instead of answering late.
 */
export class Admission {
  #requests = 0;
  #bytes = 0;
  #draining = false;
  #onEmpty: (() => void) | undefined;
  readonly #maxRequests: number;
  readonly #maxBytes: number;

  constructor(maxRequests: number, maxBytes: number) {
    this.#maxRequests = maxRequests;
    this.#maxBytes = maxBytes;
  }

  get requests(): number {
    return this.#requests;
  }

  get draining(): boolean {
    return this.#draining;
  }

  enter(headers: RequestHeaders, encoding: Encoding, maxBodyBytes: number): Place | Refusal {
    if (this.#draining) return refuse("draining", { "Retry-After": "2" });
    const announced = Number(headers.all("content-length")[0] ?? Number.NaN);
    const bytes = encoding === "identity" && announced <= maxBodyBytes ? announced : maxBodyBytes;
    if (this.#requests >= this.#maxRequests || (this.#requests > 0 && this.#bytes + bytes > this.#maxBytes)) {
      return refuse("overloaded", { "Retry-After": "1" });
    }
    this.#requests++;
    this.#bytes += bytes;
    return {
      leave: () => {
        this.#requests--;
        this.#bytes -= bytes;
        if (this.#requests === 0) this.#onEmpty?.();
      },
    };
  }

  /** Refuses new requests from now on; resolves when the last accepted one has its answer. */
  drain(): Promise<void> {
    this.#draining = true;
    if (this.#requests === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }
}
