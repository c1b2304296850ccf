import type { BodyHeaders } from "./headers.ts";
import { type RejectedRequest, rejectRequest } from "./request.ts";

export interface Permit {
  release(): void;
}

/**
 * One account may hold at most this share of each limit, or the fixed amount below if that is more. A hostile phone
 * that sends slowly can therefore not block other accounts.
 */
const SHARE_PER_ACCOUNT = 1 / 4;
const REQUESTS_PER_ACCOUNT = 32;
const BYTES_PER_ACCOUNT = 8 * 1024 * 1024;

export interface Held {
  readonly requests: number;
  readonly bytes: number;
}

/** What the other processes of the server hold. They share the limits with this process. */
export interface SharedAdmission {
  /** The sum over all accounts, as of the latest reports. */
  readonly all: Held;
  heldBy(account: string): Held;
  /** Reports what this process holds for an account. */
  report(account: string, held: Held): void;
}

/**
 * Bounds concurrent work: the number of requests, and the bytes of the bodies that they read into memory. A request
 * needs a permit before its body is read, so that an overloaded server rejects early instead of answering late.
 */
export class Admission {
  #all: Held = { requests: 0, bytes: 0 };
  readonly #byAccount = new Map<string, Held>();
  #draining = false;
  readonly #drained = Promise.withResolvers<void>();
  readonly #max: Held;
  readonly #maxPerAccount: Held;
  readonly #shared: SharedAdmission | undefined;

  constructor(requests: number, bytes: number, shared?: SharedAdmission) {
    this.#max = { requests, bytes };
    this.#maxPerAccount = {
      requests: Math.max(REQUESTS_PER_ACCOUNT, requests * SHARE_PER_ACCOUNT),
      bytes: Math.max(BYTES_PER_ACCOUNT, bytes * SHARE_PER_ACCOUNT),
    };
    this.#shared = shared;
  }

  get requests(): number {
    return this.#all.requests;
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  enter(account: string, { encoding, length }: BodyHeaders, maxBodyBytes: number): Permit | RejectedRequest {
    if (this.#draining) return rejectRequest("draining", { "Retry-After": "2" });
    const bytes = Math.min(encoding === "identity" ? (length ?? maxBodyBytes) : maxBodyBytes, maxBodyBytes);
    if (exceeds(addHeld(this.#all, this.#shared?.all), bytes, this.#max)) {
      return rejectRequest("overloaded", { "Retry-After": "1" });
    }
    const heldByThisAccount = this.#byAccount.get(account) ?? NOTHING_HELD;
    if (exceeds(addHeld(heldByThisAccount, this.#shared?.heldBy(account)), bytes, this.#maxPerAccount)) {
      return rejectRequest("too-many-requests", { "Retry-After": "1" });
    }
    this.#add(account, { requests: 1, bytes });
    return { release: () => this.#leave(account, bytes) };
  }

  #add(account: string, change: Held): void {
    this.#all = addHeld(this.#all, change);
    const heldByThisAccount = addHeld(this.#byAccount.get(account) ?? NOTHING_HELD, change);
    if (heldByThisAccount.requests === 0) this.#byAccount.delete(account);
    else this.#byAccount.set(account, heldByThisAccount);
    this.#shared?.report(account, heldByThisAccount);
  }

  #leave(account: string, bytes: number): void {
    this.#add(account, { requests: -1, bytes: -bytes });
    if (this.#draining && this.#all.requests === 0) this.#drained.resolve();
  }

  /** Rejects new requests from now on; resolves when the last accepted one has its answer. */
  drain(): Promise<void> {
    this.#draining = true;
    if (this.#all.requests === 0) this.#drained.resolve();
    return this.#drained.promise;
  }
}

const NOTHING_HELD: Held = { requests: 0, bytes: 0 };

const addHeld = (held: Held, more: Held = NOTHING_HELD): Held => ({
  requests: held.requests + more.requests,
  bytes: held.bytes + more.bytes,
});

/** A request that would be the only one always fits, however large its body and however small the limits. */
function exceeds(held: Held, bytes: number, max: Held): boolean {
  return held.requests > 0 && (held.requests >= max.requests || held.bytes + bytes > max.bytes);
}
