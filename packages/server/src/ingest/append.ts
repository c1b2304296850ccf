import {
  type Accounts,
  type EventStore,
  isPartitionMissing,
  type LedgerEntry,
  type NewEvent,
  type Sealer,
  Unavailable,
} from "../base/ports.ts";
import type { Assignment } from "./admit.ts";
import { RejectedRequest, rejectRequest } from "./request.ts";

/** Maximum number of attempts to seal and store an event, if each sealed event is stale when it is to be stored. */
export const MAX_ATTEMPTS = 20;

export interface AppendEventPorts {
  readonly store: EventStore;
  readonly sealer: Sealer;
  readonly accounts: Accounts;
  /** Chooses the purpose by the policy that is active now. */
  readonly assign: () => Assignment | RejectedRequest;
}

/** The result for a stored event, with the purpose under which it was stored. */
export interface Stored {
  readonly stored: Assignment;
}

type UnsealedEvent = Omit<NewEvent, "sealed" | "purpose" | "policyVersion">;

/**
 * Seals an event and stores it.
 *
 * @returns the purpose of the stored event; the ledger entry of the idempotency key, if the key is already in use; or a
 * rejection, if the account or a new policy rejects the event when it must be sealed again.
 * @throws Unavailable
 */
export async function append(
  event: UnsealedEvent,
  first: Assignment,
  exact: Buffer,
  ports: AppendEventPorts,
): Promise<Stored | LedgerEntry | RejectedRequest> {
  try {
    return await sealAndStore(event, first, exact, ports);
  } catch (error) {
    if (!isPartitionMissing(error)) throw error;
    // If the server's clock is behind, the partition of a retried event may be dropped already. Its ledger row remains.
    const entry = await ports.store.findKey(event.account, event.idempotencyKey);
    // guard(false): a retry of a deleted event gets its answer although the clock is behind
    if (entry) return entry;
    throw error;
  }
}

/**
 * If an erasure ran on any server after the event was sealed, the data key of the event may be destroyed. If a policy
 * was applied meanwhile, the event may have another purpose. In both cases the event is sealed again, unless the
 * account or the policy now rejects it.
 */
async function sealAndStore(
  event: UnsealedEvent,
  first: Assignment,
  exact: Buffer,
  { store, sealer, accounts, assign }: AppendEventPorts,
): Promise<Stored | LedgerEntry | RejectedRequest> {
  let assigned = first;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { code: purpose, policyVersion } = assigned.purpose;
    // `seal` creates a key id and a secret for an account that has none. A retry of an erased event must not create
    // them.
    const isKnown = await accounts.isKnown(event.account, purpose);
    const existingEntry = isKnown ? undefined : await store.findKey(event.account, event.idempotencyKey);
    // guard(drop): a retry gives an erased account no key
    if (existingEntry) return existingEntry;
    // guard(false): only an attempt that has asked the ledger creates a key
    const sealed = isKnown
      ? await sealer.sealUnderExistingKey({ ...event, purpose }, exact)
      : await sealer.seal({ ...event, purpose }, exact);
    const outcome = sealed ? await store.append({ ...event, purpose, policyVersion, sealed }) : "stale";
    if (outcome === "stored") return { stored: assigned };
    if (outcome !== "stale") return outcome;
    const reassigned = accounts.isRefused(event.account) ? rejectRequest("account-erased") : assign();
    if (reassigned instanceof RejectedRequest) {
      return (await store.findKey(event.account, event.idempotencyKey)) ?? reassigned;
    }
    assigned = reassigned;
  }
  throw new Unavailable("an event was sealed repeatedly, and an erasure or a policy intervened each time");
}
