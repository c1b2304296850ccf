import { type Accounts, type EventStore, type LedgerEntry, type NewEvent, type Sealer, Unavailable } from "../ports.ts";
import { type Refusal, refuse } from "./request.ts";

/** Erasures, one after the other, that an event is sealed anew after. */
const MOST_TURNS = 20;

export interface AppendPorts {
  readonly store: EventStore;
  readonly sealer: Sealer;
  readonly accounts: Accounts;
}

/**
 * Seals an event and stores it. What was erased meanwhile, by whichever server, took the key it was sealed under: then it
 * is sealed anew, unless its account is refused from then on.
 *
 * @returns the ledger's entry where the key is taken.
 * @throws Unavailable
 */
export async function append(
  event: Omit<NewEvent, "sealed">,
  exact: Buffer,
  { store, sealer, accounts }: AppendPorts,
): Promise<"stored" | LedgerEntry | Refusal> {
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    // Sealing gives an unknown account a key, and with it a name and a secret: a retry of what was erased gets none.
    const isKnown = await accounts.isKnown(event.account, event.purpose);
    const taken = isKnown ? undefined : await store.findKey(event.account, event.idempotencyKey);
    if (taken) return taken;
    const outcome = await store.append({ ...event, sealed: await sealer.seal(event, exact) });
    if (outcome !== "stale") return outcome;
    if (!accounts.refuses(event.account)) continue;
    return (await store.findKey(event.account, event.idempotencyKey)) ?? refuse("account-erased");
  }
  throw new Unavailable("an event was sealed time and again, and something was erased each time");
}
